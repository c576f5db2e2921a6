// Keeps a count on the persistent disk. GET / shows it to everybody; POST /visits counts one more, for those who know
// the password.
import { timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { open, readFile, rename } from "node:fs/promises";
import { createServer } from "node:https";

const say = (text) => process.stdout.write(`${text}\n`);
const config = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { ip, port, password, store, greeting } = config;
const file = `${store}/count`;
const numberIn = async (path) => Number((await readFile(path, "utf8").catch(() => "0")).trim()) || 0;

/** What is on the disk is the truth: the page never shows more than it. */
let count = await numberIn(file);
/** What the drain script has written down when the last one ended. */
const drained = await numberIn(`${store}/drained`);
let writing = Promise.resolve();

/** One after the other, and on the disk before anybody hears of it. */
function visit() {
  writing = writing.then(async () => {
    const next = count + 1;
    const handle = await open(`${file}.new`, "w", 0o640);
    try {
      await handle.writeFile(`${next}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(`${file}.new`, file);
    count = next;
  });
  return writing;
}

function knowsPassword(request) {
  const given = Buffer.from(request.headers.authorization ?? "");
  const wanted = Buffer.from(`Bearer ${password}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

const server = createServer({ cert: config.certificate, key: config.private_key }, (request, response) => {
  answer(request, response).catch((error) => {
    say(`${request.method} ${request.url}: ${error.message}`);
    // Whoever asked for a visit must not think that it was counted.
    writing = Promise.resolve();
    response.writeHead(500).end("the count cannot be kept\n");
  });
});

async function answer(request, response) {
  request.resume();
  if (request.method === "GET" && request.url === "/")
    return page(response, 200, `<h1>${escaped(greeting)}</h1>\n<p>Visits: ${count}</p>\n${last()}`);
  if (request.method === "GET" && request.url === "/count") return json(response, 200, { count });
  if (request.method !== "POST" || request.url !== "/visits")
    return json(response, 404, { error: "no such page" });
  if (!knowsPassword(request)) return json(response, 401, { error: "the password is wrong" });
  await visit();
  json(response, 200, { count });
}

const last = () => (drained > 0 ? `<p>Last drained at ${drained}</p>\n` : "");
const json = (response, status, body) =>
  response.writeHead(status, { "content-type": "application/json" }).end(`${JSON.stringify(body)}\n`);
const page = (response, status, body) =>
  response.writeHead(status, { "content-type": "text/html; charset=utf-8" }).end(`<!doctype html>\n${body}`);
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

// Its own address only: in sandboxes all VMs share those of loopback.
server.listen(port, ip, () => say(`listening on https://${ip}:${port} with a count of ${count}`));

// Drained: who is being served is served to the end, others are not.
process.on("SIGTERM", () => {
  say(`ending with a count of ${count}`);
  server.close(() => process.exit(0));
  server.closeIdleConnections();
});
