// Back, Begin and a new tab lead to the place that was begun in this browser, not to a second one. The ticket is forgotten when the study
// is finished, so that the next person at the same screen gets a place of their own.

const field = document.getElementById("ticket");
const another = document.getElementById("another");
const key = `unisono${location.pathname.replace(/\/$/, "")}/ticket`;

function keep(ticket) {
  try {
    localStorage.setItem(key, ticket);
  } catch {
    // Forbidden: then every Begin is a new one.
  }
}

function kept() {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

if (field) {
  const fresh = field.value;
  const begun = kept();
  if (begun) field.value = begun;
  another.hidden = !begun;
  field.form.addEventListener("submit", (event) => {
    if (event.submitter === another) field.value = fresh;
    keep(field.value);
  });
}
