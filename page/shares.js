/* What a zone's share of its RISC's time is of: the same as in host/report/decode_table.c. Not for shares of a launch or of an op, which the
 * answers have. */
import { ROLE_FW, ROLE_KERNEL } from "./data.js";

/* Gives each row its share: of the time in the RISC's firmware zones, or in its kernel zones where some of the firmware's were
 * lost: where there are fewer of them than of kernels, or all together are shorter. 0: of nothing that is known. */
export function giveShares(rows) {
  const riscs = new Map(), key = (r) => r.chip + " " + r.risc;
  for (const r of rows) {
    const at = riscs.get(key(r)) ?? { [ROLE_FW]: { count: 0, sum: 0 }, [ROLE_KERNEL]: { count: 0, sum: 0 } }, role = at[r.role];
    riscs.set(key(r), at);
    if (role) [role.count, role.sum] = [role.count + r.count, role.sum + r.sum];
  }
  for (const r of rows) {
    const { [ROLE_FW]: firmware, [ROLE_KERNEL]: kernel } = riscs.get(key(r));
    const base = firmware.count < kernel.count || firmware.sum < kernel.sum ? kernel.sum : firmware.sum;
    r.share = base ? (r.sum / base) * 100 : 0;
  }
}
