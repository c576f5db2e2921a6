import type { MixPlayed } from "../../matrix/contract.ts";

export const titleOf = ({ deployer, director, cpi, stemcell, agent }: MixPlayed) =>
  `${deployer === "create-env" ? "create-env " : ""}${director}/${cpi}/${stemcell}${agent === "first v2" ? " of 2018" : ""}`;
