/* Levels of detail: of a lane with many intervals, those that are enough where several of them share a pixel. Made when they are first
 * wanted, kept with the lane. Painting them is paint.js's. */

const FEWEST = 4096; /* intervals of a lane that has levels */

/* Of each 2^level cycles the interval that begins first, and all that are as long: { start, end, site, launch, row, index, near }, where index
 * says which of the lane's each is. The lane itself where that would not be half of them. */
function makeLevel(lane, level) {
  const { start, end, n } = lane, size = 2 ** level, kept = new Uint32Array(n >>> 1);
  let count = 0, next = -Infinity; /* where the next 2^level cycles begin */
  for (let i = 0; i < n; i++) {
    const from = start[i];
    if (from < next && end[i] - from < size) continue;
    if (count === kept.length) return lane;
    kept[count++] = i;
    next = (Math.floor(from / size) + 1) * size;
  }
  const index = kept.slice(0, count), of = (all) => all.constructor.from(index, (i) => all[i]);
  return { row: lane.row, start: of(start), end: of(end), site: of(lane.site), launch: of(lane.launch), index, near: 0 };
}

/* What has to be painted of a lane where a pixel is so many cycles: whatever is a pixel wide, and of what begins within each whole or
 * half pixel at least the first. */
export function enough(lane, cyclesPerPixel) {
  const level = Math.floor(Math.log2(cyclesPerPixel));
  if (lane.n < FEWEST || level < 1) return lane;
  lane.levels ||= [];
  return (lane.levels[level] ||= makeLevel(lane, level));
}
