import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { systemClock } from "@slipway/kernel/clock";
import { onTestFinished } from "vitest";

/** A way to a server on this machine that can be slow, or stop bringing what the server says. Gone with the test. */
export class SlowProxy {
  readonly port: number;
  /** Delay of data in either direction. */
  delayMs = 0;
  readonly #servers = new Set<Socket>();
  #stalled = false;

  private constructor(port: number) {
    this.port = port;
  }

  static async to(port: number): Promise<SlowProxy> {
    const listener = createServer((client) => {
      const server = connect(port, "127.0.0.1");
      it.#servers.add(server);
      if (it.#stalled) server.pause();
      it.#pass(client, server);
      it.#pass(server, client);
    });
    listener.listen(0, "127.0.0.1");
    await once(listener, "listening");
    const it = new SlowProxy((listener.address() as AddressInfo).port);
    onTestFinished(() => {
      listener.close();
      for (const server of it.#servers) server.destroy();
    });
    return it;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Stops reading from the server, as a client does that is too busy. */
  stall(): void {
    this.#stalled = true;
    for (const server of this.#servers) server.pause();
  }

  flow(): void {
    this.#stalled = false;
    for (const server of this.#servers) server.resume();
  }

  #pass(from: Socket, to: Socket): void {
    let due = 0;
    const later = (work: () => void) => {
      due = Math.max(due, systemClock.monotonic() + this.delayMs);
      const left = due - systemClock.monotonic();
      // Nothing overtakes what came before it.
      if (left > 0) systemClock.after(left, work);
      else work();
    };
    from.on("data", (data) => later(() => void to.write(data)));
    from.on("error", () => undefined);
    from.on("close", () => {
      this.#servers.delete(from);
      later(() => to.end());
    });
  }
}
