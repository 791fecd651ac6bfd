"use strict";
// Brings the page up to date: reads it anew and exchanges the parts that have changed.

const EVERY = 1000; // ms
const gone = document.getElementById("gone");

async function look() {
  if (!document.hidden) {
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      if (!answer.ok) throw new Error(answer.statusText);
      take(new DOMParser().parseFromString(await answer.text(), "text/html"));
      gone.hidden = true;
    } catch {
      gone.hidden = false;
    }
  }
  setTimeout(look, EVERY);
}

function take(next) {
  document.title = next.title;
  for (const part of document.querySelectorAll("[data-part]")) {
    const fresh = next.getElementById(part.id);
    if (fresh.innerHTML === part.innerHTML) continue;
    const held = part.contains(document.activeElement) ? document.activeElement.id : "";
    part.replaceChildren(...fresh.childNodes);
    if (held !== "") document.getElementById(held)?.focus();
  }
}

setTimeout(look, EVERY);
