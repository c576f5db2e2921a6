import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addressOf } from "./address.ts";
import { Engine } from "./engine.ts";
import { endShells, runIn } from "./session.ts";

const framed = (to: number, piece: Buffer): Buffer => {
  const head = Buffer.alloc(8);
  head[0] = to;
  head.writeUInt32BE(piece.length, 4);
  return Buffer.concat([head, piece]);
};

/** Both outputs of it, as an engine sends them. */
function into(child: ChildProcess, where: Duplex | NodeJS.WritableStream): void {
  child.stdout?.on("data", (piece: Buffer) => where.write(framed(1, piece)));
  child.stderr?.on("data", (piece: Buffer) => where.write(framed(2, piece)));
  child.on("close", () => where.end());
}

/** An engine whose only container is this machine. It may know of no connections that stay. */
async function engineHere(path: string, { keeps }: { readonly keeps: boolean }) {
  const commands: string[][] = [];
  let code = 0;
  const children = new Set<ChildProcess>();
  const started = () => {
    const [program = "", ...args] = commands.at(-1) ?? [];
    const child = spawn(program, args);
    children.add(child);
    child.on("close", (ended) => {
      children.delete(child);
      code = ended ?? -1;
    });
    return child;
  };
  const server = createServer(async (request, response) => {
    const { url = "" } = request;
    const body = await text(request);
    if (url === "/_ping") response.writeHead(200, { "api-version": "1.41" }).end("OK");
    else if (url.endsWith("/start")) {
      const child = started();
      child.stdin.end();
      into(child, response);
    } else if (url.endsWith("/json")) response.end(JSON.stringify({ Running: false, ExitCode: code }));
    else {
      commands.push((JSON.parse(body) as { Cmd: string[] }).Cmd);
      response.end('{"Id":"x"}');
    }
  });
  if (keeps)
    server.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // The body of the request comes before the input of the shell.
      const asked = Number(request.headers["content-length"]);
      const child = started();
      let rest = asked;
      const take = (piece: Buffer) => {
        child.stdin.write(piece.subarray(rest));
        rest = Math.max(0, rest - piece.length);
      };
      socket.write("HTTP/1.1 101 UPGRADED\r\nconnection: Upgrade\r\nupgrade: tcp\r\n\r\n");
      take(head);
      socket.on("data", take).on("end", () => child.stdin.end());
      into(child, socket);
    });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  /** Ends the programs that still run, and with them their connections. */
  const close = () => {
    for (const child of children) child.kill("SIGKILL");
    server.closeAllConnections();
    server.close();
  };
  return { close, commands, engine: await Engine.open(addressOf({ host: `unix://${path}` })) };
}

describe.each([
  ["a shell that stays", true],
  ["the engine", false],
])("in a container, by %s", (_, keeps) => {
  let close: () => void;
  let engine: Engine;
  let commands: string[][];
  let remove: () => Promise<void>;
  beforeEach(async () => {
    const directory = await temporaryDirectory();
    remove = directory.remove;
    ({ close, engine, commands } = await engineHere(join(directory.path, "engine.sock"), { keeps }));
  });
  afterEach(async () => {
    endShells(engine, "c");
    close();
    await remove();
  });

  const run = (script: string, ...args: string[]) => runIn(engine, "c", { script, args }, "a test");

  it("a script has its arguments as they are, and its own end", async () => {
    const words = ["it's", "a b", '$HOME "`', "two\nlines\n", "", "\\n\\", "-c"];
    expect(await run('printf "<%s>" "$0" "$@"; printf "no end" >&2; exit 65', ...words)).toEqual({
      code: 65,
      stdout: ["sh", ...words].map((word) => `<${word}>`).join(""),
      stderr: "no end",
    });
    // It changed nothing for the next one, and its standard input is empty.
    expect(await run('echo "$#"; cat')).toEqual({ code: 0, stdout: "0\n", stderr: "" });
  });

  it("a program has its arguments as they are", async () => {
    const ran = await runIn(engine, "c", ["printf", "<%s>", "it's", "$HOME", "script"], "a test");
    expect(ran).toEqual({ code: 0, stdout: "<it's><$HOME><script>", stderr: "" });
  });

  it("a script is one because its caller says so, and needs no shell but the one that is there", async () => {
    const shell = async () => (await run("echo $$")).stdout;
    const own = async () => (await runIn(engine, "c", ["sh", "-c", "echo $$"], "a test")).stdout;
    const [first, other, second] = [await shell(), await own(), await shell()];
    expect(other).not.toBe(first);
    expect(first === second).toBe(keeps);
    // Without one it is looked for each time.
    expect(commands).toHaveLength(keeps ? 1 : 6);
  });
});
