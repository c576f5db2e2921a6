import { AGENT_MESSAGES, type AgentMessageName } from "@slipway/protocol/agent/messages";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { arbitraryFor } from "@slipway/testkit/arbitrary";
import { seed } from "@slipway/testkit/sample";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { AgentTarget, COUNT, type Dice, dice, pick } from "./agent-target.ts";

const bundle = agentBundle();
let target: AgentTarget;
beforeAll(async () => {
  target = await AgentTarget.start(bundle());
});
afterAll(() => target.stop("messages to an agent"));

/** Messages that are not sent, because the agent would obey and end. */
const ENDS: readonly string[] = ["shutdown"];
const names = (Object.keys(AGENT_MESSAGES) as AgentMessageName[]).filter((name) => !ENDS.includes(name));

/** JSON texts, also such as `JSON.stringify` never writes. */
const VALUES = [
  ...["null", "true", "0", "-1", "1e999", "-0", "9".repeat(40), "0.1", "[]", "{}", "[[]]", '""', '"\\u0000"'],
  ...[
    '"a\\u0000b"',
    '"\\ud800"',
    '"../../outside"',
    '"/etc/passwd"',
    '"bosh_../x"',
    '"bosh_a\\nroot"',
    '"-rf"',
  ],
  ...['"(a+)+$"', '"["', '"$(id)"', '"file:///etc/passwd"', '"http://127.0.0.1:1/x"', '"gopher://x"'],
  ...[`"${"x".repeat(100_000)}"`, `${"[".repeat(3000)}${"]".repeat(3000)}`, '{"__proto__":{"a":1}}'],
  ...['{"constructor":1}', '{"a":1,"a":2}', '{"blob_id":"../x","checksum":"","payload":"%"}'],
  ...[
    '{"user":"root","public_key":"x\\ny"}',
    '{"user_regex":"(x+x+)+y"}',
    '{"log_type":"../../etc","filters":["**"]}',
  ],
  ...['{"job":{"templates":[{"name":"../x","version":""}]},"configuration_hash":"x","packages":{"..":{}}}'],
  ...['{"agent_task_id":{}}', '"agent"', '"job,agent,system"', '{"env":{"PATH":null}}', '"2026-01-01"'],
];
const ENVELOPES = [
  ...["", "null", "[]", "1", '"', "{", '{"method":', "\u0000", "\u0000".repeat(1000), "<xml/>", "{}", "{}{}"],
  ...[
    '{"method":"ping","arguments":null}',
    '{"method":"ping","arguments":{}}',
    '{"method":null,"arguments":[]}',
  ],
  ...['{"method":"__proto__","arguments":[]}', '{"method":"constructor","arguments":[]}', '{"arguments":[]}'],
  ...[
    '{"method":"ping\\u0000","arguments":[],"reply_to":"x"}',
    '{"protocol":"x","method":"ping","arguments":[]}',
  ],
  ...['{"protocol":-1,"method":"ping","arguments":[]}', '{"method":"get_task","arguments":["__proto__"]}'],
  ...[
    '{"method":"cancel_task","arguments":["constructor"]}',
    '{"method":"ping","arguments":[],"reply_to":{"a":1}}',
  ],
  `{"method":"ping","arguments":[],"reply_to":"${"r".repeat(200_000)}"}`,
  `{"method":"${"m".repeat(200_000)}","arguments":[]}`,
  `{"method":"ping","arguments":${"[".repeat(200_000)}`,
  `{"method":"ping","arguments":[${"1,".repeat(200_000)}1]}`,
];

const message = (method: string, args: readonly string[], protocol = "3"): string =>
  `{"protocol":${protocol},"method":"${method}","arguments":[${args.join(",")}],"reply_to":"hostile"}`;

function randomMessage(roll: Dice): string {
  const args = Array.from({ length: Math.floor(roll() * 5) }, () => pick(VALUES, roll()));
  const whole = message(pick(names, roll()), args, pick(["3", "2", "0", "99", "null", '"3"'], roll()));
  if (roll() < 0.8) return whole;
  const at = Math.floor(roll() * whole.length);
  return whole.slice(0, at) + pick(["", "\u0000", "}", "\ud800", '"', "\\"], roll()) + whole.slice(at + 1);
}

it("what is no envelope, or a strange one, is refused", async () => {
  for (const body of ENVELOPES) await target.message(body);
  await target.expectWell();
});

it("each message is answered with no argument, with one of each strange kind, and with many", async () => {
  for (const name of names) {
    await target.message(message(name, []));
    for (const value of VALUES) await target.message(message(name, [value]));
    await target.message(message(name, VALUES));
  }
  await target.expectWell();
});

it("random messages are answered", async () => {
  const roll = dice("messages");
  for (let at = 0; at < COUNT; at++) await target.message(randomMessage(roll));
  await target.expectWell();
});

it("messages of the right form with any content are answered", async () => {
  // New settings of the right form may well be taken, and then the agent restarts.
  const taken = names.filter((name) => name !== "update_settings");
  const any = fc
    .constantFrom(...taken)
    .chain((name) =>
      fc
        .tuple(...AGENT_MESSAGES[name].args.map((arg) => arbitraryFor(arg.schema)))
        .map((args) => JSON.stringify({ protocol: 3, method: name, arguments: args, reply_to: "hostile" })),
    );
  const number = Number.parseInt(seed(), 16) | 0;
  for (const body of fc.sample(any, { seed: number, numRuns: COUNT })) await target.message(body);
  await target.expectWell();
});

it("requests beside messages are refused, whatever they send and wherever to", async () => {
  const roll = dice("agent requests");
  const paths = [
    "/",
    "/agent/x",
    "//agent",
    "/blobs/",
    "/blobs/..",
    "/blobs/%2e%2e%2foutside",
    "/blobs/a%00b",
    "/blobs/%",
  ];
  const bodies = ["", "{}", "x".repeat(1_000_000), "\u0000"];
  const auths = ["mbus:s3cret-not", "mbus:s3cret", "", ":", "mbus:"];
  for (let at = 0; at < Math.min(COUNT, 300); at++) {
    const method = pick(["GET", "PUT", "POST", "DELETE", "HEAD", "OPTIONS", "PATCH"], roll());
    const path = pick([...paths, `/blobs/${"y".repeat(4000)}`, "/agent"], roll());
    await target.attack(path, { method, auth: pick(auths, roll()), body: pick(bodies, roll()) });
  }
  // More than it takes of one message.
  const { status } = await target.message(`{"method":"ping","arguments":["${"x".repeat(40 << 20)}"]}`);
  expect([0, 413, 200]).toContain(status);
  await target.expectWell();
});
