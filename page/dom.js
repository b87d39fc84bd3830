/* Elements of the page. */

/* An element: make("td", { class: "n" }, "text" or elements...). Text never becomes markup. */
export function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** @returns {any} */
export function byId(id) {
  return document.getElementById(id);
}
