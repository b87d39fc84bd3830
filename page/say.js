/* What has happened, for who cannot see it, and briefly for who can. */

import { byId } from "./dom.js";

export function say(text) {
  byId("say").textContent = text;
}
