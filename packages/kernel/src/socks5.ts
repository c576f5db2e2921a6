import { connect, type Socket } from "node:net";
import { systemCode, toError } from "./errors.ts";
import { BITS, type IpAddress, parseAddress } from "./ip-address.ts";
import { ProxyError } from "./proxy-error.ts";

/** A proxy that connects to whom it is told, RFC 1928; with name and password, RFC 1929. It looks up names itself. */
export interface Socks5Proxy {
  readonly host: string;
  readonly port: number;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
}

export interface Destination {
  readonly host: string;
  readonly port: number;
}

export class Socks5Trouble extends ProxyError {
  override readonly name = "Socks5Trouble";

  constructor({ host, port }: Socks5Proxy, why: string, options?: { lasting?: boolean; cause?: unknown }) {
    super(`${host}:${port}`, why, options);
  }
}

const VERSION = 5;
const NO_PROOF = 0;
const BY_PASSWORD = 2;
const NONE_FITS = 0xff;

/** Reasons why the proxy cannot reach the target: in words, and as a code of the system. */
const REFUSALS: Readonly<Record<number, readonly [why: string, code?: string]>> = {
  1: ["failed"],
  2: ["does not allow it"],
  3: ["has no way to that network", "ENETUNREACH"],
  4: ["does not reach that host", "EHOSTUNREACH"],
  5: ["was refused there", "ECONNREFUSED"],
  6: ["got no answer in time", "ETIMEDOUT"],
  7: ["makes no connections"],
  8: ["does not take that kind of address"],
};

/** A connection to somebody through a proxy. What is sent over it is for them alone. */
export async function dialSocks5(proxy: Socks5Proxy, to: Destination, signal?: AbortSignal): Promise<Socket> {
  const asked = requestFor(proxy, to);
  return await talking(proxy, signal, async (talk) => {
    talk.socket.write(asked);
    await accepted(proxy, to, talk).catch((error: unknown) => {
      if (error instanceof Socks5Trouble || error instanceof Unreached) throw error;
      // It knows who we are, and hangs up all the same: as ssh does when nobody is there.
      throw new Unreached(`${askedOf(proxy, to)} hung up`, { cause: error });
    });
    talk.socket.setNoDelay(true);
    return talk.socket;
  });
}

/** Checks that the proxy answers and accepts the name and password, without connecting to a target. */
export async function greetSocks5(proxy: Socks5Proxy, signal?: AbortSignal): Promise<void> {
  await talking(proxy, signal, ({ socket }) => Promise.resolve(socket.destroy()));
}

async function talking<T>(
  proxy: Socks5Proxy,
  signal: AbortSignal | undefined,
  work: (talk: Talk) => Promise<T>,
): Promise<T> {
  const hello = helloOf(proxy);
  const socket = connect({ host: proxy.host, port: proxy.port });
  const abort = () => socket.destroy(toError(signal?.reason));
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();
  try {
    const talk = talkOver(socket);
    await proveTo(proxy, hello, talk);
    return await work(talk);
  } catch (error) {
    socket.destroy();
    signal?.throwIfAborted();
    if (error instanceof Socks5Trouble || error instanceof Unreached) throw error;
    const gone = systemCode(error) === "ECONNREFUSED" ? "does not listen" : "cannot be asked";
    throw new Socks5Trouble(proxy, gone, { cause: error });
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

class Unreached extends Error {}

interface Talk {
  readonly socket: Socket;
  /** So many bytes. What comes behind them stays in the socket. */
  take(bytes: number): Promise<Buffer>;
}

function talkOver(socket: Socket): Talk {
  let failure: Error | undefined;
  let wake = () => {};
  const over = (error: Error) => {
    failure ??= error;
    wake();
  };
  // It stays: whoever gets the socket has not seen it yet when it fails.
  socket.on("error", over);
  socket.once("close", () => over(new Error("the connection was closed")));
  socket.once("end", () => over(new Error("it hung up")));
  return {
    socket,
    take: async (bytes) => {
      const more = () => wake();
      socket.on("readable", more);
      try {
        for (;;) {
          const got = socket.read(bytes) as Buffer | null;
          if (got !== null && got.length === bytes) return got;
          if (got !== null) over(new Error("it hung up"));
          if (failure !== undefined) throw failure;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      } finally {
        socket.off("readable", more);
      }
    },
  };
}

async function proveTo(proxy: Socks5Proxy, hello: Hello, { socket, take }: Talk): Promise<void> {
  socket.write(Buffer.from([VERSION, hello.methods.length, ...hello.methods]));
  const [version, method] = await take(2);
  const lasting = true;
  if (version !== VERSION) throw new Socks5Trouble(proxy, "does not speak SOCKS5", { lasting });
  if (method === NO_PROOF) return;
  if (method === NONE_FITS && hello.proof === undefined)
    throw new Socks5Trouble(proxy, "wants a name and a password", { lasting });
  if (method !== BY_PASSWORD || hello.proof === undefined)
    throw new Socks5Trouble(proxy, "wants another proof than a name and a password", { lasting });
  socket.write(hello.proof);
  const [, status] = await take(2);
  if (status !== 0) throw new Socks5Trouble(proxy, "does not accept the name and the password", { lasting });
}

async function accepted(proxy: Socks5Proxy, to: Destination, { take }: Talk): Promise<void> {
  const [version, status = 1, , kind] = await take(4);
  if (version !== VERSION) throw new Socks5Trouble(proxy, "does not speak SOCKS5", { lasting: true });
  if (status !== 0) {
    const [why, code] = REFUSALS[status] ?? [`answers ${status}`];
    throw Object.assign(new Unreached(`${askedOf(proxy, to)} ${why}`), code !== undefined && { code });
  }
  // From which address it connects is of no interest, but has to be read.
  const length = kind === 3 ? ((await take(1))[0] ?? 0) : kind === 4 ? 16 : 4;
  await take(length + 2);
}

const askedOf = (proxy: Socks5Proxy, to: Destination): string =>
  `the proxy ${proxy.host}:${proxy.port}, asked for ${to.host}:${to.port},`;

interface Hello {
  readonly methods: readonly number[];
  readonly proof: Buffer | undefined;
}

function helloOf(proxy: Socks5Proxy): Hello {
  if (proxy.user === undefined) return { methods: [NO_PROOF], proof: undefined };
  const pair = [proxy.user, proxy.password ?? ""].map((text) => counted(proxy, text, "name or password"));
  return { methods: [NO_PROOF, BY_PASSWORD], proof: Buffer.concat([Buffer.from([1]), ...pair]) };
}

function requestFor(proxy: Socks5Proxy, { host, port }: Destination): Buffer {
  const address = parseAddress(host);
  const to =
    address === undefined
      ? [Buffer.from([3]), counted(proxy, host, "host")]
      : [Buffer.from([address.family === 4 ? 1 : 4]), bytesOf(address)];
  return Buffer.concat([Buffer.from([VERSION, 1, 0]), ...to, Buffer.from([port >> 8, port & 0xff])]);
}

function counted(proxy: Socks5Proxy, text: string, what: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length > 255)
    throw new Socks5Trouble(proxy, `takes no ${what} of ${bytes.length} bytes`, { lasting: true });
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

const bytesOf = ({ family, value }: IpAddress): Buffer =>
  Buffer.from(value.toString(16).padStart(BITS[family] / 4, "0"), "hex");
