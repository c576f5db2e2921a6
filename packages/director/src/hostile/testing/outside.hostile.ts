import { gzipSync } from "node:zlib";
import { fileEntry, stemcellEntries, tarball } from "@slipway/testkit/tarball";
import { afterAll, beforeAll, expect, it } from "vitest";
import { attack, COUNT, dice, pick, report } from "./judge.ts";
import { startTarget, type Target } from "./target.ts";

let target: Target;
beforeAll(async () => {
  target = await startTarget();
});
afterAll(async () => {
  report("what comes from outside");
  await target.stop();
});

async function upload(body: Buffer): Promise<string> {
  const headers = { "content-type": "application/x-compressed" };
  const status = await attack(target, { method: "POST", path: "/stemcells", user: "admin", headers, body });
  if (status !== 302) return "error";
  const { body: tasks } = await target.send({
    method: "GET",
    path: "/tasks?limit=1&verbose=2",
    user: "admin",
  });
  const id = (JSON.parse(tasks) as { id: number }[])[0]?.id ?? 0;
  for (;;) {
    const task = await target.send({ method: "GET", path: `/tasks/${id}`, user: "admin" });
    const { state, result } = JSON.parse(task.body) as { state: string; result: string | null };
    // Words of the database tell that something came as far as there without being checked.
    expect(result ?? "").not.toMatch(/index row|invalid byte|duplicate key|violates|relation "/);
    if (!["queued", "processing"].includes(state)) return state;
    expect(target.alive()).toBe(true);
  }
}

/** The longest archive is small: what is in it is what matters. */
it("archives that lie about themselves end their task, and nothing else", async () => {
  const fine = await tarball(stemcellEntries());
  const names = [
    "../../etc/x",
    "/etc/x",
    "a/../../x",
    "x".repeat(4000),
    "stemcell.MF/x",
    ".",
    "image/../stemcell.MF",
  ];
  const lies = [
    ...(await Promise.all(names.map((name) => tarball([...stemcellEntries(), fileEntry(name, "x")])))),
    ...[
      "a: [",
      "&a [*a]",
      "name: ../x\nversion: 1",
      "name: 1\nversion: [1]\nsha1: x",
      "x".repeat(100_000),
    ].map(async (text) => tarball([fileEntry("stemcell.MF", text), fileEntry("image", "x")])),
    gzipSync(Buffer.alloc(20_000_000)),
    Buffer.alloc(0),
    Buffer.from("no archive"),
    fine.subarray(0, fine.length / 2),
  ];
  for (const lie of lies) expect(await upload(await lie)).toBe("error");
  const roll = dice("archives");
  for (let i = 0; i < Math.min(COUNT / 10, 40); i++) {
    const damaged = Buffer.from(fine);
    for (let bytes = 0; bytes < 4; bytes++)
      damaged[Math.floor(roll() * damaged.length)] = Math.floor(roll() * 256);
    expect(["error", "done"]).toContain(await upload(damaged));
  }
});

/** Does not become shorter in an index. */
function randomText(length: number): string {
  const roll = dice("text");
  return Array.from({ length }, () => String.fromCharCode(48 + Math.floor(roll() * 10))).join("");
}

it("a task reports any answer of a CPI, and the Director lives", async () => {
  const answers = [
    ...[
      "",
      "{",
      "null",
      "[]",
      '"',
      "\u0000",
      '{"result":null,"error":null,"log":""}',
      '{"result":{"a":1},"error":null,"log":"x"}',
    ],
    ...[
      '{"result":["vm"],"error":null,"log":""}',
      '{"error":{"type":"Bosh::Clouds::VMNotFound","message":"x","ok_to_retry":true}}',
    ],
    ...[
      `{"result":"${"x".repeat(100_000)}","error":null,"log":""}`,
      `{"result":"${randomText(8_000)}","error":null,"log":""}`,
      '{"result":"a\\u0000b","error":null,"log":""}',
      `${"[".repeat(50_000)}`,
      '{"__proto__":{"result":1}}',
      "x".repeat(2_000_000),
    ],
  ];
  const roll = dice("cpi");
  const archive = await tarball(stemcellEntries());
  for (let i = 0; i < Math.max(answers.length, Math.min(COUNT / 20, 30)); i++) {
    await target.cpiSays(answers[i] ?? pick(answers, roll()) + pick(answers, roll()));
    expect(["error", "done"]).toContain(await upload(archive));
  }
});
