import { afterAll, beforeAll, expect, it } from "vitest";
import { COSTLY } from "../../documents/testing/worker-script.ts";
import { startControl } from "./control.ts";
import { answeredMeanwhile, attack, COUNT, dice, pick, report, SOON_MS, share } from "./judge.ts";
import { startTarget, type Target } from "./target.ts";

let target: Target;
beforeAll(async () => {
  target = await startTarget();
});
afterAll(async () => {
  report("documents");
  await target.stop();
});

const MANIFEST = `name: shop
releases: []
stemcells: [{alias: default, os: linux, version: latest}]
update: {canaries: 1, max_in_flight: 1, canary_watch_time: 1000, update_watch_time: 1000}
instance_groups:
- {name: web, azs: [z1], instances: 1, vm_type: small, stemcell: default, networks: [{name: private}], jobs: []}
`;
const PIECES = [
  ...[
    "../db",
    "d b",
    "&a ",
    "*a",
    "<<: ",
    "[",
    "]",
    "{",
    "}",
    "- ",
    ": ",
    "\n",
    "\t",
    "'",
    '"',
    "!!binary ",
    "!ruby/x ",
  ],
  ...[
    "~",
    "1e999",
    "-1",
    "999999999999",
    "0x00000000z",
    "__proto__",
    "\u0000",
    "\u2028",
    "((x))",
    "((",
    "%",
    "|",
    ">",
    "#",
  ],
  ...[
    "x".repeat(3000),
    "[".repeat(300),
    "a: ".repeat(50),
    "instances: -5",
    "name: ",
    "azs: 7",
    "networks: {}",
    "\ud83d",
  ],
];

const yaml = { "content-type": "text/yaml" };

it("manifests with random damage are refused or deployed, and compared", async () => {
  const roll = dice("documents");
  for (let i = 0; i < COUNT; i++) {
    let text = MANIFEST;
    for (let cuts = 0; cuts <= roll() * 3; cuts++) {
      const at = Math.floor(roll() * text.length);
      text = text.slice(0, at) + pick(PIECES, roll()) + text.slice(at + Math.floor(roll() * 8));
    }
    const path = pick(
      ["/deployments", "/deployments/shop/diff", "/cloud_configs", "/runtime_configs/diff"],
      roll(),
    );
    await attack(target, { method: "POST", path, user: "admin", headers: yaml, body: text });
  }
});

it("other users are answered within 100 ms while ten costly documents are compared for users who may only read", async () => {
  const texts = Object.values(COSTLY);
  const headers = { "content-type": "application/json" };
  // Before the documents: however long its process takes to start, they are not over by then.
  const control = await startControl();
  const costly = Array.from({ length: 10 }, (_, i) => {
    const content = pick(texts, (i % texts.length) / texts.length);
    const body = JSON.stringify({ from: { content: "azs: []" }, to: { content } });
    return attack(target, { method: "POST", path: "/configs/diff", user: "reader", headers, body });
  });
  const plain: number[] = [];
  const waits = await answeredMeanwhile(target, Promise.all(costly), async () =>
    plain.push(await control.ask()),
  );
  await control.stop();
  plain.sort((a, b) => a - b);
  const told = [0.5, 0.95, 1].map(
    (part) => `${share(waits, part).toFixed(1)} (${share(plain, part).toFixed(1)})`,
  );
  process.stdout.write(
    `hostile: /info was answered ${waits.length} times meanwhile; ms for half of them, 95 %, all: ${told.join(", ")}; beside them, a server without work\n`,
  );
  // One after the other on the Director's thread, each would let about one through.
  expect(waits.length).toBeGreaterThan(20);
  // On a busy machine, no server answers soon.
  for (const part of [0.5, 0.95]) expect(share(waits, part)).toBeLessThan(SOON_MS + 3 * share(plain, part));
});
