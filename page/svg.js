/* Elements of pictures. */

/** Their name space is an address that nobody visits: the page has no address in it. */
function nameSpace() {
  const template = document.createElement("template");
  template.innerHTML = "<svg></svg>";
  return template.content.firstElementChild?.namespaceURI ?? null;
}

let space = null;

export function svg(tag, attributes, ...children) {
  const element = document.createElementNS((space = space || nameSpace()), tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}
