import { type CloudsOptions, cpiOfConfig } from "@slipway/engine/clouds/clouds";
import { ConfiguredClouds } from "@slipway/engine/clouds/configured-clouds";
import { type EmbeddedCpi, embeddedCpiPort } from "@slipway/engine/clouds/embedded-cpi";
import type { Clock } from "@slipway/kernel/clock";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { NoCpi } from "./errors.ts";

interface Given extends CloudsOptions {
  readonly config: DirectorConfig;
  /** The CPI in this process, for a configuration without an executable. */
  readonly embeddedCpi: Pick<EmbeddedCpi, "name" | "open"> | undefined;
  readonly clock: Clock;
}

/** The Director's own CPI, and what a CPI config may name beside it. */
export function openClouds({ config: { cpi, director }, embeddedCpi, ...given }: Given): ConfiguredClouds {
  const { clock } = given;
  const here = embeddedCpi && embeddedCpiPort({ ...embeddedCpi, clock });
  const own = cpiOfConfig(
    { cpi },
    {
      clock,
      embedded: () => {
        if (here === undefined) throw NoCpi({});
        return here;
      },
    },
  );
  return new ConfiguredClouds({
    ...given,
    own,
    programs: {
      byType: new Map(Object.entries(cpi?.programs ?? {})),
      env: cpi?.env,
      paths: cpi?.exec_path === undefined ? [] : [cpi.exec_path],
      inProcess: new Map(here && embeddedCpi ? [[embeddedCpi.name, here]] : []),
    },
    maxApiVersion: director?.cpi_api_test_max_version,
  });
}
