import type { Methods } from "@slipway/cpi-sdk/cpi";
import type { LocalConfig } from "../config.ts";

export type LocalMethods = Required<Methods<LocalConfig>>;
