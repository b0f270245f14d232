# Serves a study. Needs nothing but the wheel: `python -m build --wheel`, then `docker build -t unisono-collect .`
#
#   docker run -p 127.0.0.1:8400:8400 -v "$PWD/my-study:/study" unisono-collect --public-url https://study.example.org
FROM python:3.11-slim

COPY dist/unisono-*.whl /tmp/
RUN wheel=$(ls /tmp/unisono-*.whl) \
 && pip install --no-cache-dir "${wheel}[collect,postgres]" \
 && rm /tmp/unisono-*.whl \
 && useradd --uid 1000 --create-home rating

USER rating
VOLUME /study
EXPOSE 8400
# Links with secrets in them go into files of the study's folder, never into the container's log.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s \
  CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8400/health', timeout=4)"]
# Inside a container the loopback address would be reachable by nobody; publish the port on the host's loopback instead.
ENTRYPOINT ["unisono", "collect", "serve", "/study", "--host", "0.0.0.0", "--port", "8400"]
