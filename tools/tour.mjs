// Runs the ```console blocks of a page and puts what they really print under the commands.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.mjs";

const BLOCK = /```console\n([\s\S]*?)```/g;
const MARK = "\u0001";
/** What npm runs: there is no package.json where the tour goes. */
const BY_NPM = { "npm run -s matrix:cpi": "node packages/certify/dist/matrix.cjs" };
const NEEDED = [
  "LICENSE",
  "examples/tiny-cpi/cpi.json",
  "examples/tiny-cpi/registry.json",
  "examples/tiny-cpi/dist/cpi.cjs",
  "packages/registry/dist/slipway-registry.cjs",
  "packages/certify/dist/matrix.cjs",
];

/** The page with the output of its console blocks as it is now. Times are replaced: they differ every time. */
export async function withRealOutput(page) {
  const dir = mkdtempSync(join(tmpdir(), "slipway-tour-"));
  try {
    for (const path of NEEDED) {
      mkdirSync(join(dir, path, ".."), { recursive: true });
      cpSync(path, join(dir, path));
    }
    // The page uses the registry's usual port; here that one may be taken.
    const port = await freePort();
    for (const path of NEEDED.filter((one) => one.endsWith(".json"))) {
      writeFileSync(join(dir, path), readFileSync(path, "utf8").replaceAll("25777", String(port)));
    }
    const blocks = [...page.matchAll(BLOCK)].map(([, block]) => commandsOf(block));
    const outputs = run(dir, blocks.flat(), port);
    let at = 0;
    return page.replace(BLOCK, () => {
      const commands = blocks.shift() ?? [];
      const text = commands.map((command) => `${shown(command)}\n${outputs[at++]}`).join("");
      return `\`\`\`console\n${text}\`\`\``;
    });
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A command starts with `$ ` and goes on in lines that start with `> `. */
function commandsOf(block) {
  const commands = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("$ ")) commands.push([line.slice(2)]);
    else if (line.startsWith("> ")) commands.at(-1)?.push(line.slice(2));
  }
  return commands;
}

const shown = (command) => command.map((line, at) => `${at === 0 ? "$" : ">"} ${line}`).join("\n");

/** All in one shell, so that what a command sets is there for the next. The page itself stops what it starts. */
function run(dir, commands, port) {
  const script = commands
    .map((lines) => lines.join("\n"))
    .map((command) => `${(BY_NPM[command] ?? command).replaceAll("25777", String(port))}\nprintf '${MARK}'`)
    .join("\n");
  const { stdout, status } = spawnSync("sh", ["-c", `exec 2>&1\n${script}`], {
    cwd: dir,
    encoding: "utf8",
    timeout: 60_000,
  });
  if (status !== 0) throw new Error(`the tour ended with ${status}: ${stdout}`);
  // A page that shows an error asks for something that it calls `gone`.
  const refusal = stdout.match(/^(?!.*-gone).*"error":\{.*$/m)?.[0];
  if (refusal !== undefined)
    throw new Error(
      `a call of the tour failed; are the cids in its commands those of the replies? ${refusal}`,
    );
  return stdout
    .replaceAll(String(port), "25777")
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "2026-01-02T03:04:05.678Z")
    .split(MARK);
}
