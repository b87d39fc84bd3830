/* What tests, and whoever opens the browser's console, may reach of the page: `devlog.timeline`, `devlog.goTo`, ... The
 * page itself goes by the modules' own lists. */

import * as area from "./area.js";
import * as answersOf from "./answers.js";
import * as answer_table from "./answer_table.js";
import * as causes_draw from "./causes_draw.js";
import * as data from "./data.js";
import * as dom from "./dom.js";
import * as findzone from "./findzone.js";
import * as flows from "./flows.js";
import * as format from "./format.js";
import * as heatmap from "./heatmap.js";
import * as histogram from "./histogram.js";
import * as instances from "./instances.js";
import * as keys from "./keys.js";
import * as markers from "./markers.js";
import * as memory from "./memory.js";
import * as opsOf from "./ops.js";
import * as owners from "./owners.js";
import * as overview from "./overview.js";
import * as panes from "./panes.js";
import * as places from "./places.js";
import * as roofline from "./roofline.js";
import * as rows from "./rows.js";
import * as search from "./search.js";
import * as select from "./select.js";
import * as table from "./table.js";
import * as tabsOf from "./tabs.js";
import * as theme from "./theme.js";
import * as timeline from "./timeline.js";
import * as view from "./view.js";
import * as waits from "./waits.js";

export const handle = Object.assign({}, answersOf, area, answer_table, causes_draw, data, dom, findzone, flows, format, heatmap, histogram, instances, keys, markers, memory, opsOf, overview, owners, panes, places, roofline, rows, search, select, table, tabsOf, theme, timeline, view, waits);
