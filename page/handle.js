/* What tests, and whoever opens the browser's console, may reach of the page: `devlog.timeline`, `devlog.select`, ... The
 * page itself uses imports only. */

import * as data from "./data.js";
import * as dom from "./dom.js";
import * as flows from "./flows.js";
import * as format from "./format.js";
import * as heatmap from "./heatmap.js";
import * as histogram from "./histogram.js";
import * as keys from "./keys.js";
import * as markers from "./markers.js";
import * as rows from "./rows.js";
import * as search from "./search.js";
import * as select from "./select.js";
import * as table from "./table.js";
import * as theme from "./theme.js";
import * as timeline from "./timeline.js";
import * as view from "./view.js";

export const handle = Object.assign({}, data, dom, flows, format, heatmap, histogram, keys, markers, rows, search, select, table, theme, timeline, view);
