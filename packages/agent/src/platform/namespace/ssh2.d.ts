/** The parts of `ssh2` that the agent uses. Its published types bring a second copy of the types of Node. */
declare module "ssh2" {
  import type { EventEmitter } from "node:events";
  import type { Server as NetServer } from "node:net";
  import type { Duplex, Writable } from "node:stream";

  export interface ParsedKey {
    readonly type: string;
    getPublicSSH(): Buffer;
    sign(data: Buffer): Buffer | Error;
    verify(data: Buffer, signature: Buffer, algorithm?: string): boolean | Error;
  }

  export interface AuthContext {
    readonly method: string;
    readonly username: string;
    readonly key?: { readonly algo: string; readonly data: Buffer };
    readonly signature?: Buffer;
    readonly blob?: Buffer;
    readonly hashAlgo?: string;
    accept(): void;
    reject(methods?: readonly string[]): void;
  }

  export interface Channel extends Duplex {
    readonly stderr: Writable;
    exit(codeOrSignal: number | string): void;
  }

  type Answer<T> = (() => T) | undefined;

  export interface PtySize {
    readonly rows: number;
    readonly cols: number;
  }

  export interface Session extends EventEmitter {
    on(
      event: "pty",
      on: (accept: Answer<void>, reject: Answer<void>, info: PtySize & { term: string }) => void,
    ): this;
    on(event: "window-change", on: (accept: Answer<void>, reject: Answer<void>, info: PtySize) => void): this;
    on(
      event: "env",
      on: (accept: Answer<void>, reject: Answer<void>, info: { key: string; val: string }) => void,
    ): this;
    on(
      event: "exec",
      on: (accept: () => Channel, reject: Answer<void>, info: { command: string }) => void,
    ): this;
    on(event: "shell", on: (accept: () => Channel, reject: Answer<void>) => void): this;
    on(
      event: "subsystem",
      on: (accept: () => Channel, reject: Answer<void>, info: { name: string }) => void,
    ): this;
  }

  export interface Connection extends EventEmitter {
    on(event: "authentication", on: (context: AuthContext) => void): this;
    on(event: "session", on: (accept: () => Session) => void): this;
    on(event: "ready" | "close", on: () => void): this;
    on(event: "error", on: (error: Error) => void): this;
    end(): void;
  }

  export class Server extends EventEmitter {
    constructor(options: { hostKeys: readonly (string | Buffer)[] }, onConnection: (one: Connection) => void);
    listen(port: number, host: string, listening: () => void): NetServer;
    address(): { port: number };
    close(done?: () => void): void;
  }

  /** Tests play clients that lie. */
  export class BaseAgent {}

  export class Client extends EventEmitter {
    connect(options: { host: string; port: number; username: string; agent: BaseAgent }): this;
    end(): void;
  }

  export const utils: {
    parseKey(text: string): ParsedKey | Error;
    generateKeyPairSync(type: "ed25519"): { private: string; public: string };
  };
}
