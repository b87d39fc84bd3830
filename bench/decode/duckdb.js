// DuckDB doing the grouping of a device log, on one thread: count, sum, least and greatest stamp of every
// marker of every RISC. It does not pair starts with ends, which would cost it more. Usage: duckdb.js FILE L2|L8|L9
const { DuckDBInstance } = require('@duckdb/node-api');

const places = "'chip': 'UINTEGER', 'x': 'UINTEGER', 'y': 'UINTEGER', 'risc': 'VARCHAR', 'timer': 'UINTEGER', 't': 'UBIGINT'";
const names = ", 'data': 'UBIGINT', 'host': 'UBIGINT', 'trace': 'VARCHAR', 'counter': 'VARCHAR', 'zone': 'VARCHAR', " +
  "'type': 'VARCHAR', 'line': 'UINTEGER', 'file': 'VARCHAR', 'meta': 'VARCHAR'";

async function main(file, version) {
  const begin = process.hrtime.bigint();
  const db = await DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await db.connect();
  const l9 = version !== 'L2';
  const keys = l9 ? 'chip, x, y, risc, zone, type' : 'chip, x, y, risc, timer';
  const read = `read_csv('${file}', header = false, skip = 2, delim = ',', quote = '', escape = '', auto_detect = false, ` +
    `columns = {${places}${l9 ? names : ''}})`;
  const result = await connection.runAndReadAll(
    `SELECT ${keys}, count(*) AS n, sum(t), min(t), max(t) FROM ${read} GROUP BY ${keys}`);
  let rows = 0n;
  for (const row of result.getRowObjects()) rows += row.n;
  const wall = Number(process.hrtime.bigint() - begin) / 1e9;
  const cpu = process.cpuUsage();
  console.log(`cpu ${((cpu.user + cpu.system) / 1e6).toFixed(3)} wall ${wall.toFixed(3)} ` +
    `peak ${process.resourceUsage().maxRSS} rows ${rows} samples 0`);
}

main(process.argv[2], process.argv[3]).catch((e) => { console.error(String(e)); process.exit(1); });
