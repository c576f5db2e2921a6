import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Content of a path: a text, a program, or a link. */
export type Planted = string | { readonly program: string } | { readonly link: string };

/** Files of a release directory, as its author has them. */
export async function plant(dir: string, files: Readonly<Record<string, Planted>>): Promise<void> {
  for (const [name, file] of Object.entries(files)) {
    const path = join(dir, name);
    await mkdir(dirname(path), { recursive: true });
    if (typeof file === "object" && "link" in file) await symlink(file.link, path);
    else {
      await writeFile(path, typeof file === "string" ? file : file.program);
      await chmod(path, typeof file === "string" ? 0o644 : 0o755);
    }
  }
}

/** Everything that a release directory can have. */
export const EVERYTHING: Readonly<Record<string, Planted>> = {
  "config/final.yml":
    "name: everything\nblobstore:\n  provider: local\n  options:\n    blobstore_path: stored\n",
  "config/blobs.yml": "--- {}\n",
  LICENSE: "do as you like\n",
  "LICENSE.third-party": "they too\n",
  NOTICE: "made here\n",
  "src/app/main.sh": { program: "#!/bin/bash\necho main\n" },
  "src/app/.hidden": "seen\n",
  "src/app/deep/er/.dots/file": "deep\n",
  "src/app/deep/er/ü-\u{1f600}.txt": "letters\n",
  "src/app/deep/er/\uff5e.txt": "more letters\n",
  "src/app/link": { link: "main.sh" },
  "src/app/lost": { link: "nowhere" },
  "src/app/directory-link": { link: "deep" },
  "src/app/skip/me": "no\n",
  "src/app/skip/not-me": "yes\n",
  "src/lib/a.c": "a\n",
  "src/lib/b.h": "b\n",
  "src/lib/c.txt": "c\n",
  "packages/base/spec": "---\nname: base\nfiles: []\n",
  "packages/base/packaging": 'echo base > "$BOSH_INSTALL_TARGET/base"\n',
  "packages/app/spec":
    "---\nname: app\ndependencies: [lib, base]\nfiles: ['app/**/*']\nexcluded_files: [app/skip/me]\n",
  "packages/app/packaging": { program: 'set -e\ncp -a app "$BOSH_INSTALL_TARGET"\n' },
  "packages/whole/spec": "---\nname: whole\nfiles: ['app/**', './lib//b.h']\nno_compression: true\n",
  "packages/whole/packaging": "true\n",
  "packages/lib/spec": "---\nname: lib\nfiles: ['lib/[a-b].?', 'lib/{c,d}.txt']\n",
  "packages/lib/packaging": "true\n",
  "packages/made/spec": "---\nname: made\nfiles: [lib/a.c]\n",
  "packages/made/packaging": "true\n",
  "packages/made/pre_packaging":
    'set -e\ntest -d "$RELEASE_DIR/jobs"\nmkdir generated\ncp lib/a.c "$BUILD_DIR/generated/copy"\nrm -r lib\n',
  "jobs/web/spec":
    "---\nname: web\ntemplates:\n  ctl.erb: bin/ctl\n  more/deep.erb: config/deep\n  shared: config/shared\npackages: [app, base]\nproperties: {port: {default: 80}}\n",
  "jobs/web/monit": "check process web\n  with pidfile /var/vcap/sys/run/web/pid\n  group vcap\n",
  "jobs/web/properties_schema.json": "{}\n",
  "jobs/web/templates/ctl.erb": { program: "#!/bin/bash\n" },
  "jobs/web/templates/more/deep.erb": 'port: <%= p("port") %>\n',
  "jobs/web/templates/shared": { link: "../../../src/lib/c.txt" },
  "jobs/idle/spec": "---\nname: idle\n",
  "jobs/idle/monit": "",
  "jobs/README": "not a job\n",
};
