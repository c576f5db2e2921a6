import { EventEmitter, once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { type SocksOptions, socksServer } from "@slipway/testkit/socks-server";
import { describe, expect, it, onTestFinished } from "vitest";
import { dialSocks5, type Socks5Proxy, Socks5Trouble } from "./socks5.ts";

async function listening(talk: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer(talk);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Starts a server that speaks first, as sshd does. */
const greeter = () => listening((socket) => socket.end("ahoy"));

async function proxy(options: SocksOptions = {}) {
  const made = await socksServer(options);
  onTestFinished(() => made.close());
  return made;
}

async function said(through: Socks5Proxy, host: string, port: number): Promise<string> {
  const socket = await dialSocks5(through, { host, port });
  let text = "";
  for await (const piece of socket) text += String(piece);
  return text;
}

const trouble = (work: Promise<unknown>): Promise<Error & { lasting?: boolean; code?: string }> =>
  work.then(
    () => {
      throw new Error("it succeeded");
    },
    (error: Error) => error,
  );

describe("a connection through a SOCKS5 proxy", () => {
  it("is to a name that the proxy alone knows, and nothing of what comes first is lost", async () => {
    const through = await proxy({ names: { "director.inside": await greeter() } });
    expect(await said(through, "director.inside", 25555)).toBe("ahoy");
    expect(through.seen).toEqual(["director.inside:25555"]);
  });

  it("is to an address, which is sent as one", async () => {
    const port = await greeter();
    const through = await proxy();
    expect(await said(through, "127.0.0.1", port)).toBe("ahoy");
    await said(through, "fd00::a:7", port).catch(() => undefined);
    expect(through.seen).toEqual([`127.0.0.1:${port}`, `[fd0000000000000000000000000a0007]:${port}`]);
  });

  it("takes a name and a password, where the proxy wants them", async () => {
    const through = await proxy({ password: "s3cret", names: { a: await greeter() } });
    expect(await said({ ...through, user: "u", password: "s3cret" }, "a", 1)).toBe("ahoy");
    const none = await trouble(said(through, "a", 1));
    expect(none.message).toBe(`the proxy 127.0.0.1:${through.port} wants a name and a password`);
    const wrong = await trouble(said({ ...through, user: "u", password: "CANARY" }, "a", 1));
    expect(wrong).toMatchObject({
      lasting: true,
      message: expect.stringContaining("does not accept the name"),
    });
    expect(wrong.message).not.toContain("CANARY");
    const long = await trouble(said({ ...through, user: "u", password: "x".repeat(256) }, "a", 1));
    expect(long.message).toContain("takes no name or password of 256 bytes");
  });

  it("is not made to who is not there, which the system's code tells as well", async () => {
    const [refused, unknown] = [await proxy({ answers: 5 }), await proxy()];
    expect(await trouble(said(refused, "a", 1))).toMatchObject({
      code: "ECONNREFUSED",
      message: `the proxy 127.0.0.1:${refused.port}, asked for a:1, was refused there`,
    });
    expect(await trouble(said(unknown, "a", 1))).toMatchObject({ code: "EHOSTUNREACH" });
    const hangs = await trouble(said(await proxy({ answers: "nothing" }), "a", 1));
    expect(hangs).not.toBeInstanceOf(Socks5Trouble);
    expect(hangs.message).toContain("asked for a:1, hung up");
    expect((await trouble(said(await proxy({ answers: 77 }), "a", 1))).message).toContain("answers 77");
  });

  it("is not made by what is away, hangs up or speaks something else", async () => {
    const gone = await proxy();
    await gone.close();
    const away = await trouble(said(gone, "a", 1));
    expect(away).toBeInstanceOf(Socks5Trouble);
    expect(away).toMatchObject({
      lasting: false,
      message: `the proxy 127.0.0.1:${gone.port} does not listen`,
    });
    expect(away.code).toBeUndefined();
    const at = (port: number) => ({ host: "127.0.0.1", port });
    const mute = await listening((socket) => socket.end(Buffer.from([5])));
    expect((await trouble(said(at(mute), "a", 1))).message).toContain(`127.0.0.1:${mute} cannot be asked`);
    const web = await listening((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
    expect(await trouble(said(at(web), "a", 1))).toMatchObject({
      lasting: true,
      message: expect.stringContaining("does not speak SOCKS5"),
    });
  });

  it("is given up when nobody waits for it any more, and nothing stays open", async () => {
    const events = new EventEmitter();
    const [came, ended] = [once(events, "came"), once(events, "ended")];
    const port = await listening((socket) => {
      socket.on("error", () => undefined).once("close", () => events.emit("ended"));
      socket.resume();
      events.emit("came");
    });
    const stop = new AbortController();
    const dialled = trouble(dialSocks5({ host: "127.0.0.1", port }, { host: "a", port: 1 }, stop.signal));
    await came;
    stop.abort(new Error("enough"));
    expect((await dialled).message).toBe("enough");
    await ended;
  });
});
