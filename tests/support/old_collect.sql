BEGIN TRANSACTION;
CREATE TABLE event (
	id INTEGER NOT NULL, 
	rater_id INTEGER NOT NULL, 
	tab VARCHAR(40) NOT NULL, 
	seq INTEGER NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	slot_id INTEGER, 
	sent_at BIGINT NOT NULL, 
	stored_at BIGINT NOT NULL, 
	payload TEXT NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (rater_id, tab, seq), 
	FOREIGN KEY(rater_id) REFERENCES rater (id), 
	FOREIGN KEY(slot_id) REFERENCES slot (id)
);
INSERT INTO "event" VALUES(1,1,'tab00000',0,'consent',NULL,1700000000000,1794812213045,'{"kind":"consent","seq":0,"at":1700000000000,"code":""}');
INSERT INTO "event" VALUES(2,1,'tab00000',1,'rating',1,1700000000000,1794812213099,'{"kind":"rating","seq":1,"at":1700000000000,"slot":1,"values":{"saturation":0.0,"brightness":5.0},"start":{"saturation":74.0,"brightness":1.0},"shown_ms":1234.0,"sources":{}}');
INSERT INTO "event" VALUES(3,1,'tab00000',2,'rating',2,1700000000000,1794812213123,'{"kind":"rating","seq":2,"at":1700000000000,"slot":2,"values":{"saturation":10.0,"brightness":5.0},"start":{"saturation":96.0,"brightness":30.0},"shown_ms":1234.0,"sources":{}}');
INSERT INTO "event" VALUES(4,1,'tab00000',3,'rating',3,1700000000000,1794812213137,'{"kind":"rating","seq":3,"at":1700000000000,"slot":3,"values":{"saturation":20.0,"brightness":5.0},"start":{"saturation":91.0,"brightness":88.0},"shown_ms":1234.0,"sources":{}}');
INSERT INTO "event" VALUES(5,1,'tab00000',4,'rating',1,1700000000000,1794812213150,'{"kind":"rating","seq":4,"at":1700000000000,"slot":1,"values":{"saturation":99.0,"brightness":98.0},"start":{"saturation":74.0,"brightness":1.0},"shown_ms":1234.0,"sources":{}}');
INSERT INTO "event" VALUES(6,1,'tab00000',5,'comment',NULL,1700000000000,1794812213168,'{"kind":"comment","seq":5,"at":1700000000000,"text":"hello"}');
INSERT INTO "event" VALUES(7,1,'tab00000',6,'finish',NULL,1700000000000,1794812213177,'{"kind":"finish","seq":6,"at":1700000000000}');
INSERT INTO "event" VALUES(8,2,'tab00001',0,'consent',NULL,1700000000000,1794812213208,'{"kind":"consent","seq":0,"at":1700000000000,"code":""}');
INSERT INTO "event" VALUES(9,2,'tab00001',1,'rating',4,1700000000000,1794812213235,'{"kind":"rating","seq":1,"at":1700000000000,"slot":4,"values":{"saturation":1.0,"brightness":2.0},"start":{"saturation":5.0,"brightness":1.0},"shown_ms":1234.0,"sources":{}}');
CREATE TABLE item (
	name VARCHAR(400) NOT NULL, 
	place INTEGER NOT NULL, 
	load INTEGER NOT NULL, 
	done INTEGER NOT NULL, 
	PRIMARY KEY (name)
);
INSERT INTO "item" VALUES('saturation-001',0,2,1);
INSERT INTO "item" VALUES('brightness-001',1,2,2);
CREATE TABLE rater (
	id INTEGER NOT NULL, 
	name VARCHAR(40) NOT NULL, 
	source VARCHAR(20) NOT NULL, 
	outside VARCHAR(200), 
	session VARCHAR(200) NOT NULL, 
	extra TEXT NOT NULL, 
	state VARCHAR(20) NOT NULL, 
	joined_at BIGINT NOT NULL, 
	seen_at BIGINT NOT NULL, 
	finished_at BIGINT, 
	events INTEGER NOT NULL, 
	returns INTEGER NOT NULL, 
	PRIMARY KEY (id), 
	UNIQUE (source, outside), 
	UNIQUE (name)
);
INSERT INTO "rater" VALUES(1,'e248cc334e6e','open',NULL,'','{}','finished',1794812213022,1794812213177,1794812213177,7,0);
INSERT INTO "rater" VALUES(2,'2c2c2efe7de0','open',NULL,'','{}','active',1794812213190,1794812213235,NULL,2,0);
CREATE TABLE setting (
	"key" VARCHAR(40) NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY ("key")
);
INSERT INTO "setting" VALUES('version','1');
INSERT INTO "setting" VALUES('scales','{"mode":"rate","passes":[["saturation","brightness"]],"scales":[["saturation",0.0,100.0],["brightness",0.0,100.0]],"seed":1,"items":{"source":"colours","folder":"media","media":"image","table":"texts.csv","truth":"","regimes":["saturation","brightness"],"per_regime":1,"fixed":60.0,"count":6,"seconds":60.0,"hold":[2.0,4.0],"move":[1.0,2.0]},"rate":25.0,"reference":null}');
INSERT INTO "setting" VALUES('checks','{"check-5cc0b22b":{"after":1,"text":"Set both to the left.","expected":{"saturation":0.0},"tolerance":10.0,"id":""}}');
CREATE TABLE slot (
	id INTEGER NOT NULL, 
	rater_id INTEGER NOT NULL, 
	position INTEGER NOT NULL, 
	item VARCHAR(400) NOT NULL, 
	role VARCHAR(20) NOT NULL, 
	repetition INTEGER NOT NULL, 
	part INTEGER NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	done_at BIGINT, 
	PRIMARY KEY (id), 
	UNIQUE (rater_id, position), 
	FOREIGN KEY(rater_id) REFERENCES rater (id)
);
INSERT INTO "slot" VALUES(1,1,0,'saturation-001','item',0,0,'done',1794812213099);
INSERT INTO "slot" VALUES(2,1,1,'check-5cc0b22b','check',0,0,'done',1794812213123);
INSERT INTO "slot" VALUES(3,1,2,'brightness-001','item',0,0,'done',1794812213137);
INSERT INTO "slot" VALUES(4,2,0,'brightness-001','item',0,0,'done',1794812213235);
INSERT INTO "slot" VALUES(5,2,1,'check-5cc0b22b','check',0,0,'open',NULL);
INSERT INTO "slot" VALUES(6,2,2,'saturation-001','item',0,0,'open',NULL);
CREATE INDEX slot_by_item ON slot (item, role);
CREATE INDEX event_by_slot ON event (slot_id, kind);
COMMIT;
