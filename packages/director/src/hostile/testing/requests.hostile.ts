import { afterAll, beforeAll, expect, it } from "vitest";
import { routes } from "../../api/routes.ts";
import { attack, COUNT, type Dice, dice, pick, report } from "./judge.ts";
import { type Sent, startTarget, type Target } from "./target.ts";

let target: Target;
beforeAll(async () => {
  target = await startTarget();
});
afterAll(async () => {
  report("requests");
  await target.stop();
});

const WORDS = [
  ...[
    "%00",
    "a%00b",
    "%",
    "%zz",
    "%ED%A0%80",
    "%FF%FE",
    "..",
    "..%2F..%2Fetc%2Fpasswd",
    ".",
    "*",
    "a b",
    "'",
    '"',
  ],
  ...[
    "x".repeat(300),
    "y".repeat(2000),
    "z".repeat(4000),
    "%F0%9F%92%A9".repeat(200),
    "1",
    "-1",
    "0",
    "9".repeat(30),
  ],
  ...[
    "true",
    "null",
    "[]",
    "{}",
    "__proto__",
    "constructor",
    "toString",
    "1e999",
    "0x10",
    "NaN",
    "%0d%0aset-cookie:x",
  ],
  ...[
    "2001-01-01",
    "99999-99-99",
    "'; drop table tasks; --",
    "$(id)",
    "%25s%25n",
    "\\",
    "a;b",
    "a&b=c",
    "a=b",
  ],
];
const KEYS = [
  "type",
  "name",
  "limit",
  "latest",
  "state",
  "verbose",
  "deployment",
  "deployment[]",
  "before",
  "before_id",
];
const MORE = [
  "context",
  "redact",
  "recreate",
  "force",
  "fix",
  "path",
  "id",
  "after_time",
  "canaries",
  "__proto__",
  "skip_drain",
];
const TYPES = [
  "text/yaml",
  "application/json",
  "application/x-compressed",
  "text/plain",
  "multipart/form-data",
  "%",
  "",
];
const BODIES = [
  ...[
    "",
    "{}",
    "[]",
    "null",
    "1",
    '"',
    "{",
    '{"a":',
    "\u0000",
    "a: 1",
    "- a",
    "a: [",
    "&a [*a]",
    "<<: 1",
    "name: x",
  ],
  ...[
    '{"__proto__":1}',
    '{"type":"\\u0000","name":"b","content":"c"}',
    `{"a":${"[".repeat(5000)}`,
    '{"type":1,"name":[],"content":{}}',
  ],
  ...[
    '{"from":{"id":"99999999999999999999"},"to":{"id":-1}}',
    '{"from":{"content":"a: 1"},"to":{"content":"b: ["}}',
  ],
  ...[
    '{"paused":"maybe"}',
    '{"ignore":null}',
    '{"resolutions":{"1":"x\\u0000"}}',
    '{"location":"file:///etc/passwd"}',
  ],
];

function randomRequest(roll: Dice): Sent {
  const { method, path } = pick(routes, roll());
  const filled = path.replace(/:\w+/g, () => pick(WORDS, roll()));
  const pairs = Array.from({ length: Math.floor(roll() * 4) }, () => {
    return `${pick([...KEYS, ...MORE], roll())}=${pick(WORDS, roll())}`;
  });
  const query = pairs.length === 0 ? "" : `?${pairs.join("&")}`;
  const type = pick(TYPES, roll());
  const body = method === "GET" && roll() < 0.8 ? undefined : pick(BODIES, roll());
  const headers: Record<string, string> = {};
  if (type !== "") headers["content-type"] = type;
  if (roll() < 0.1) headers["x-bosh-context-id"] = "c".repeat(Math.floor(roll() * 200));
  if (roll() < 0.05)
    headers.authorization = pick(["Basic", "Basic %%%", "Bearer x", `Basic ${"A".repeat(9000)}`], roll());
  if (roll() < 0.05) headers.range = pick(["bytes=0-", "bytes=-1", "bytes=9-1", "bytes=a-b"], roll());
  if (roll() < 0.05) headers["content-encoding"] = "gzip";
  return {
    method,
    path: filled.replace(/[^\x21-\x7e]/g, "_") + query.replace(/[^\x21-\x7e]/g, "_"),
    user: "admin",
    headers,
    body,
  };
}

it("each name at each place of each route is answered", async () => {
  for (const { method, path } of routes)
    for (const word of ["%00", "z".repeat(4000), "..%2F..", "__proto__"])
      await attack(target, {
        method,
        path: `${path.replace(/:\w+/g, word)}?name=${word}&type=${word}`,
        user: "admin",
        headers: { "content-type": "application/json" },
        body: method === "GET" ? undefined : "{}",
      });
});

it("random requests of an admin are answered", async () => {
  const roll = dice("requests");
  for (let i = 0; i < COUNT; i++) await attack(target, randomRequest(roll));
});

it("random requests of who may only read change nothing", async () => {
  const roll = dice("reader");
  const before = await target.everything();
  for (let i = 0; i < COUNT; i++) await attack(target, { ...randomRequest(roll), user: "reader" });
  expect(await target.everything()).toBe(before);
});

it("failed logins do not lock out a user who knows the password", async () => {
  const wrong = { authorization: `Basic ${Buffer.from("admin:guess").toString("base64")}` };
  const guesses = Array.from({ length: 40 }, () =>
    attack(target, { method: "GET", path: "/tasks", headers: wrong }),
  );
  expect(await attack(target, { method: "GET", path: "/tasks", user: "admin" })).toBe(200);
  expect(new Set(await Promise.all(guesses))).toEqual(new Set([401]));
});
