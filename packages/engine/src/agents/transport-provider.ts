import type { AgentId } from "@slipway/protocol/ids";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { UpdateSettings } from "@slipway/protocol/settings/agent-settings";
import type { Networks } from "@slipway/protocol/settings/networks";
import type { AgentAddress, GivenCertificate } from "./agent.ts";
import type { AgentTransport } from "./transport.ts";

export interface VmToIntroduce {
  readonly agentId: AgentId;
  /** Empty for networks whose addresses the cloud gives. */
  readonly ips: readonly string[];
}

/** One way to reach agents: over HTTPS, or over NATS. */
export interface TransportProvider {
  /** See `AgentIntroduction`. */
  ready(): Promise<void>;
  transportTo(address: AgentAddress): AgentTransport;
  introduce(vm: VmToIntroduce): Promise<GivenCertificate & { readonly envBosh: JsonObject }>;
  urlFor(networks: Networks): string | undefined;
  renewal(vm: VmToIntroduce): Promise<GivenCertificate & { readonly settings: UpdateSettings }>;
  /** See `AgentIntroduction`. */
  signerEnds(): number;
}
