import type { MixOf8 } from "../../matrix/mixes.ts";

export const titleOf = ({ director, cpi, stemcell }: MixOf8) => `${director}/${cpi}/${stemcell}`;
