import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface SocksOptions {
  /** Password required of user `u`; without it the server requires none. */
  readonly password?: string;
  /** Names that it alone knows: where they are on this machine. Others are not there. */
  readonly names?: Readonly<Record<string, number>>;
  /** Reply code in place of connecting; with "nothing" the server hangs up. */
  readonly answers?: number | "nothing";
}

/** A SOCKS5 proxy as others run it. It remembers whom it was asked for, and in which kind of address. */
export async function socksServer({ password, names = {}, answers }: SocksOptions = {}) {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    keep(client);
    void serve(client).catch(() => client.destroy());
  });
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).once("close", () => sockets.delete(socket));
  };

  async function serve(client: Socket): Promise<void> {
    const take = taker(client);
    const [, count = 0] = await take(2);
    const methods = [...(await take(count))];
    const method = password === undefined ? 0 : 2;
    if (!methods.includes(method)) return void client.end(Buffer.from([5, 0xff]));
    client.write(Buffer.from([5, method]));
    if (password !== undefined) {
      const pair: string[] = [];
      await take(1);
      for (let part = 0; part < 2; part++) pair.push((await take((await take(1))[0] ?? 0)).toString());
      const right = pair.join(":") === `u:${password}`;
      client.write(Buffer.from([1, right ? 0 : 1]));
      if (!right) return void client.end();
    }
    const [, , , kind] = await take(4);
    const host = await hostOf(kind, take);
    const port = (await take(2)).readUInt16BE();
    seen.push(`${host}:${port}`);
    const known = kind === 3 && host !== "localhost" ? names[host] : port;
    if (answers === "nothing") return void client.end();
    const refused = answers ?? (known === undefined ? 4 : undefined);
    if (refused !== undefined) return void client.end(Buffer.from([5, refused, 0, 1, 0, 0, 0, 0, 0, 0]));
    const upstream = connect(known ?? 0, kind === 3 ? "127.0.0.1" : host, () => {
      // With a name as the address it comes from, and together with what the other side says first.
      client.write(Buffer.from([5, 0, 0, 3, 2, 0x6d, 0x65, 0, 0]));
      upstream.pipe(client).pipe(upstream);
    });
    keep(upstream);
    const refusal = () => client.end(Buffer.from([5, 5, 0, 1, 0, 0, 0, 0, 0, 0]));
    upstream.once("error", refusal).once("connect", () => upstream.off("error", refusal));
    upstream.once("close", () => client.end());
    client.once("close", () => upstream.destroy());
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  return { url: `socks5://127.0.0.1:${port}`, host: "127.0.0.1", port, seen, close };
}

type Take = (bytes: number) => Promise<Buffer>;

async function hostOf(kind: number | undefined, take: Take): Promise<string> {
  if (kind === 3) return (await take((await take(1))[0] ?? 0)).toString();
  if (kind === 1) return [...(await take(4))].join(".");
  return `[${(await take(16)).toString("hex")}]`;
}

function taker(socket: Socket): Take {
  return async (bytes) => {
    if (bytes === 0) return Buffer.alloc(0);
    for (;;) {
      const got = socket.read(bytes) as Buffer | null;
      if (got !== null) return got;
      await new Promise<void>((resolve, reject) => {
        socket.once("readable", resolve).once("close", () => reject(new Error("it hung up")));
      });
    }
  };
}
