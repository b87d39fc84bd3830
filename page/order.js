/* Which cores have rows in the time line, and in which order: those that the user hid have none, pinned ones come first, and each may
 * be moved. Knows nothing of how they are drawn. `order` is null while nobody changed it. */

export const order = { list: null, pinned: 0, hidden: new Set() };

/* Cores as they are shown. */
export function shownCores(model) {
  return (order.list || model.cores).filter((c) => !order.hidden.has(c));
}

function listOf(model) {
  return order.list || (order.list = [...model.cores]);
}

export function isPinned(core) {
  return order.list !== null && order.list.indexOf(core) < order.pinned;
}

/* Pins a core behind those that are pinned, or, if it is, puts it back to where it was. */
export function togglePin(model, core) {
  const list = listOf(model), at = list.indexOf(core), was = at < order.pinned;
  list.splice(at, 1);
  order.pinned += was ? -1 : 1;
  let to = order.pinned - 1;
  if (was) {
    to = order.pinned;
    while (to < list.length && list[to].index < core.index) to++;
  }
  list.splice(to, 0, core);
  forgetIfPlain(model);
}

/* One place up (-1) or down (1) among those that are shown: pinned ones stay among themselves. */
export function moveCore(model, core, step) {
  const list = listOf(model), at = list.indexOf(core);
  let to = at + step;
  while (to >= 0 && to < list.length && order.hidden.has(list[to])) to += step;
  if (to < 0 || to >= list.length || at < order.pinned !== to < order.pinned || list[to].chip !== core.chip && at >= order.pinned) return false;
  list.splice(at, 1);
  list.splice(to, 0, core);
  forgetIfPlain(model);
  return true;
}

function forgetIfPlain(model) {
  if (!order.pinned && order.list.every((c, i) => c === model.cores[i])) order.list = null;
}

/* As text: cores by their numbers; "" while nobody changed it. */
export function orderText() {
  return order.list ? order.list.map((c) => c.index).join(",") : "";
}

/* From numbers of cores, pinned ones first; cores that are not among them come behind, as they are. */
export function setOrder(model, numbers, pinned, hidden) {
  const first = numbers.map((i) => model.cores[i]);
  order.list = numbers.length ? first.concat(model.cores.filter((c) => !first.includes(c))) : null;
  order.pinned = order.list ? Math.min(pinned, order.list.length) : 0;
  order.hidden = new Set(hidden.map((i) => model.cores[i]));
  if (order.hidden.size >= model.cores.length) order.hidden.clear(); /* nothing would be left */
}
