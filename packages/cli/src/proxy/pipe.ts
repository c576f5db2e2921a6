import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { Clock } from "@slipway/kernel/clock";
import { messageTrail } from "@slipway/kernel/errors";
import { dialSocks5, type Socks5Proxy } from "@slipway/kernel/socks5";
import { readProxyUrl } from "./proxy-url.ts";

/** Internal command: ssh runs it in place of a connection of its own. */
export const PIPE = "__through-socks5";

/** Environment variable for the password; arguments can be read by every user of the machine. */
const PASSWORD = "SLIPWAY_SOCKS5_PASSWORD";
const WITHIN_MS = 30_000;

/** Returns the command with which ssh reaches a host through that proxy, and its environment. */
export function pipeThrough({ host, port, user, password }: Socks5Proxy, self: readonly string[]) {
  const at = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const url = `socks5://${user === undefined ? "" : `${encodeURIComponent(user)}@`}${at}`;
  return { program: [...self, PIPE, url], env: password === undefined ? {} : { [PASSWORD]: password } };
}

export interface PipeWorld {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input: Readable;
  readonly output: Writable;
  readonly err: { write(text: string): unknown };
  readonly clock: Clock;
  readonly stop: AbortSignal;
}

/** `PROXY HOST PORT`: what is read goes there, and what comes from there is written. Resolves to the exit code. */
export async function pipe({ argv, env, input, output, err, clock, stop }: PipeWorld): Promise<number> {
  const [url = "", host = "", port = ""] = argv;
  const end = new AbortController();
  const cancel = clock.after(WITHIN_MS, () =>
    end.abort(new Error(`no connection within ${WITHIN_MS / 1000} s`)),
  );
  const stopped = () => end.abort(new Error("stopped"));
  stop.addEventListener("abort", stopped, { once: true });
  try {
    const read = readProxyUrl(url, "the proxy");
    if (read.kind !== "socks5") throw new Error("a jumpbox is entered before ssh is started");
    const proxy = { ...read.proxy, password: env[PASSWORD] };
    const socket = await dialSocks5(proxy, { host, port: Number(port) }, end.signal);
    const over = once(socket, "close");
    end.signal.addEventListener("abort", () => socket.destroy(), { once: true });
    cancel();
    input.pipe(socket).pipe(output, { end: false });
    await over;
    return 0;
  } catch (error) {
    err.write(`${messageTrail(error)}\n`);
    return 1;
  } finally {
    cancel();
    stop.removeEventListener("abort", stopped);
  }
}
