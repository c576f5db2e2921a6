// node tools/make-deb.mjs slipway-cli-VERSION.tgz DIRECTORY: makes a Debian package of the npm package. It has all programs, the
// docs and PostgreSQL of this machine's kind; Node.js is a dependency. Prints the path of the package.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const ARCHITECTURES = { x64: "amd64", arm64: "arm64" };
const LIB = "usr/lib/slipway";
const PACKAGE = `${LIB}/lib/node_modules/@slipway/cli`;

const UNIT = `[Unit]
Description=Slipway Director
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=/usr/bin/slipway up
Environment=SLIPWAY_HOME=/var/lib/slipway
Restart=on-failure
RestartSec=5
KillMode=process
TimeoutStopSec=180
LimitNOFILE=65536

[Install]
WantedBy=multi-user.target
`;

function run(program, args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

/** Makes the package of the tarball in the directory; returns its path. */
export function makeDeb(tarball, into) {
  const stage = mkdtempSync(join(tmpdir(), "slipway-deb-"));
  try {
    chmodSync(stage, 0o755);
    const quiet = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error", "--install-links"];
    run("npm", ["install", "--global", "--prefix", join(stage, LIB), ...quiet, resolve(tarball)]);
    const { version, description, bin } = JSON.parse(
      readFileSync(join(stage, PACKAGE, "package.json"), "utf8"),
    );
    const architecture = ARCHITECTURES[process.arch];
    if (architecture === undefined) throw new Error(`there is no Debian architecture for ${process.arch}`);
    for (const dir of ["usr/bin", "usr/lib/systemd/system", "usr/share/doc", "DEBIAN"])
      mkdirSync(join(stage, dir), { recursive: true });
    for (const [name, file] of Object.entries(bin))
      symlinkSync(join("..", PACKAGE.replace(/^usr\//, ""), file), join(stage, "usr/bin", name));
    symlinkSync(join("../..", PACKAGE.replace(/^usr\//, ""), "docs"), join(stage, "usr/share/doc/slipway"));
    rmSync(join(stage, LIB, "bin"), { recursive: true, force: true });
    writeFileSync(join(stage, "usr/lib/systemd/system/slipway.service"), UNIT);
    const size = Number(run("du", ["-sk", "--apparent-size", stage]).split("\t")[0]);
    writeFileSync(
      join(stage, "DEBIAN/control"),
      [
        "Package: slipway",
        `Version: ${version}`,
        `Architecture: ${architecture}`,
        "Maintainer: Slipway <slipway@localhost>",
        `Installed-Size: ${size}`,
        "Depends: nodejs (>= 20)",
        "Recommends: util-linux, e2fsprogs, iproute2",
        "Section: admin",
        "Priority: optional",
        `Description: ${description}`,
        "",
      ].join("\n"),
    );
    // Programs keep compiled code beside them, for the version of Node that runs them.
    const postrm = `#!/bin/sh\nset -e\ncase "$1" in remove | purge) rm -rf "\${DPKG_ROOT:-}/${LIB}" ;; esac\n`;
    writeFileSync(join(stage, "DEBIAN/postrm"), postrm, { mode: 0o755 });
    // What npm has written for its user alone would be closed to the database's user.
    run("chmod", ["-R", "u=rwX,go=rX", join(stage, "usr")]);
    const path = join(resolve(into), `slipway_${version}_${architecture}.deb`);
    run("dpkg-deb", ["--root-owner-group", "-Zgzip", "-z3", "--build", stage, path]);
    if (!existsSync(path)) throw new Error(`dpkg-deb made no package in ${readdirSync(into)}`);
    return path;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [, , tarball, into = "."] = process.argv;
  if (tarball === undefined) {
    console.error("usage: node tools/make-deb.mjs slipway-cli-VERSION.tgz [DIRECTORY]");
    process.exit(2);
  }
  console.log(makeDeb(tarball, into));
}
