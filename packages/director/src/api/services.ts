import type { AgentLookup, StoreFiles } from "@slipway/engine/agents/agent";
import type { Blobs } from "@slipway/engine/blobs/blobs";
import type { ConfiguredClouds } from "@slipway/engine/clouds/configured-clouds";
import type { ConfigServer } from "@slipway/engine/variables/config-server";
import type { Clock } from "@slipway/kernel/clock";
import type { Random } from "@slipway/kernel/random";
import type { ApiVersion } from "@slipway/protocol/cpi/api-version";
import type { certificateExpiry } from "@slipway/protocol/director/info";
import type { directorStatus } from "@slipway/protocol/director/status";
import type { ReplyOf } from "@slipway/protocol/schema/reply-of";
import type { Documents } from "../documents/documents.ts";
import type { HealthSnapshot } from "../health/snapshot.ts";
import type { Exposition } from "../metrics/exposition.ts";
import type { Db } from "../store/schema.ts";
import type { Tasks } from "../tasks/task.ts";
import type { Tokens } from "../uaa/tokens.ts";
import type { Shapes } from "./call.ts";
import type { ConsoleFiles } from "./console-files.ts";
import type { Reply } from "./reply.ts";
import type { UploadSpace } from "./upload-space.ts";

export interface ApiUser {
  readonly name: string;
  readonly password: string;
  /** Default: `bosh.admin`. */
  readonly scopes?: readonly string[] | undefined;
}

/** A request and its answer, as far as it may be written down: its query and its body may hold secrets. */
export interface Answered {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** The route as the table has it: `/tasks/:id`. */
  readonly route: string;
  readonly status: number;
  readonly ms: number;
  /** Undefined if the caller is not authenticated. */
  readonly user: string | undefined;
  readonly from: string;
  /** Target of a redirect: the task of the caller. */
  readonly location: string;
}

export type CertificateExpiry = ReplyOf<typeof certificateExpiry>;

/** All the API needs of the rest of the Director. */
export interface Services {
  readonly db: Db;
  readonly tasks: Tasks;
  readonly documents: Documents;
  /** Checks which CPIs a CPI config may name. */
  readonly cpis: Pick<ConfiguredClouds, "check">;
  /** Values of variables: the Director's own, or those of another program. */
  readonly configServer: Pick<ConfigServer, "newest" | "byId">;
  /** Address of the other program; undefined if the Director keeps the values itself. */
  readonly configServerUrl?: string | undefined;
  readonly agents: AgentLookup<StoreFiles>;
  /** Settings of the DNS names of instances. */
  readonly dns?: { readonly enabled: boolean; readonly domain: string };
  readonly identity: {
    readonly name: string;
    readonly uuid: string;
    readonly version: string;
    /** Shown by `bosh env`. */
    readonly cpi: string;
    /** The highest CPI API version it asks for. */
    readonly cpiApiVersion: ApiVersion;
    /** True if the Director takes snapshots. */
    readonly snapshots?: boolean | undefined;
  };
  /** True if CPIs create networks for the Director. */
  readonly managesNetworks?: boolean | undefined;
  /** Subnets may be without one. */
  readonly ignoreMissingGateway?: boolean | undefined;
  readonly users: readonly ApiUser[];
  /** Undefined if tokens are not accepted. */
  readonly tokens?: Tokens | undefined;
  /** Directory in which archives wait for their task; made by the caller, private to the Director. */
  readonly uploadsDir: string;
  readonly blobs: Blobs;
  readonly uploads: UploadSpace;
  readonly clock: Clock;
  readonly random: Random;
  /** Files of the web console; undefined if it is not served. */
  readonly console?: ConsoleFiles | undefined;
  /** Receives every failure that is not the caller's mistake. */
  readonly onError: (error: unknown, about?: { readonly request?: string }) => void;
  /** Receives every answer that was sent. */
  readonly onAnswered?: (answered: Answered) => void;
  /** Receives every answer before it is sent; an error it throws is sent instead. For tests. */
  readonly onReply?: (shapes: Shapes, reply: Reply) => void;
  /** Returns what keeps the Director from working at present. */
  readonly problems?: () => readonly string[];
  /** Undefined if instances are not monitored. */
  readonly health?: { snapshot(): HealthSnapshot | undefined } | undefined;
  /** Writes the metrics of the Director itself, for Prometheus. */
  readonly metrics?: (into: Exposition) => Promise<void>;
  /** Returns the status of the Director for `GET /director/status`. */
  readonly self?: () => Promise<ReplyOf<typeof directorStatus>>;
  readonly certificates?: () => Promise<readonly CertificateExpiry[]>;
}
