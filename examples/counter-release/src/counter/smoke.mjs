// Is the counter what it says? Ends with 1 where it is not.
import { readFileSync } from "node:fs";
import { ask } from "./client.mjs";

const say = (text) => process.stdout.write(`${text}\n`);
const config = JSON.parse(readFileSync(process.argv[2], "utf8"));
const [address] = config.counters;
const to = { ...config, address };

async function countNow() {
  const { status, text } = await ask(to, "GET", "/count");
  if (status !== 200) throw new Error(`GET /count was answered with ${status}: ${text}`);
  return JSON.parse(text).count;
}

function check(what, holds) {
  say(`${holds ? "ok  " : "FAIL"} ${what}`);
  if (!holds) process.exitCode = 1;
}

const before = await countNow();
const refused = await ask(to, "POST", "/visits", "not the password");
check("a wrong password is refused", refused.status === 401);
const visited = await ask(to, "POST", "/visits", config.password);
check("a visit is taken", visited.status === 200);
const after = await countNow();
check(`the visit was counted: ${before} before, ${after} after`, after > before);
const page = await ask(to, "GET", "/");
check("the page shows the count", /Visits: \d+/.test(page.text));
