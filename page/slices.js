/* Work that would hold up frames, in slices: between two of them the browser paints and hears. */

/* `most` is how much a slice does: as many units as take a few milliseconds. */
export const slices = { most: 150000, running: new Map() };

let port = null, waiting = [];

/* Behind what the browser has to do now. A timeout would be put off by 4 ms each time. */
function later(act) {
  if (!port) {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => waiting.splice(0).forEach((each) => each());
    port = channel.port2;
  }
  waiting.push(act);
  port.postMessage(0);
}

/* Goes through `steps`, a generator that yields how many units each step was, and hands what it returns to `done`. The first slice is done
 * at once, and so is work that is no more than that. Of one kind of work only the newest goes on. */
export function inSlices(kind, steps, done) {
  slices.running.set(kind, steps);
  const work = () => {
    if (slices.running.get(kind) !== steps) return;
    for (let units = 0; units < slices.most;) {
      const step = steps.next();
      if (step.done) {
        slices.running.delete(kind);
        return done(step.value);
      }
      units += step.value;
    }
    later(work);
  };
  work();
}

/* Nobody waits for this kind any more. */
export function stopSlices(kind) {
  slices.running.delete(kind);
}

/* All of it, now. */
export function atOnce(steps) {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
