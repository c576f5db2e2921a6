import type { NeededPackage } from "@slipway/engine/compile/needed";

/** Returns the release and the stemcell of a package, in an operator's words. */
export const releaseAndStemcell = ({ release, stemcell }: NeededPackage) => ({
  release: `${release.name}/${release.version}`,
  stemcell: `${stemcell.os}/${stemcell.version}`,
});

/** Packages of the same release for the same stemcell, by name. */
export function namesLike(first: NeededPackage, all: readonly NeededPackage[]): readonly string[] {
  const { release, stemcell } = releaseAndStemcell(first);
  return all
    .filter((one) => {
      const other = releaseAndStemcell(one);
      return other.release === release && other.stemcell === stemcell;
    })
    .map((one) => `${one.package.name}/${one.package.fingerprint}`)
    .sort();
}
