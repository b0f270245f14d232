// The token in the link stands behind the #, where only this page sees it.

function enter() {
  const token = location.hash.slice(1);
  if (!token) return;
  history.replaceState(null, "", location.pathname);
  document.getElementById("token").value = token;
  document.getElementById("login").submit();
}

// Opening the link while this page is open changes nothing but the part behind the #.
window.addEventListener("hashchange", enter);
enter();
