/**
 * Releases. Jobs and packages belong to a release, whichever of its versions have them. Several may share a blob; one that
 * no row names is removed. Packages of which only compiled ones were uploaded have no source.
 */
export const releases = `
create table releases (
  id   bigint generated always as identity primary key,
  name text not null unique
);

create table release_versions (
  id                  bigint generated always as identity primary key,
  release_id          bigint not null references releases,
  version             text not null,
  commit_hash         text not null,
  uncommitted_changes boolean not null,
  created_at          timestamptz not null default now(),
  unique (release_id, version)
);

-- The document of a job is what was read from its job.MF. As json, not jsonb: the order of its properties stays.
create table jobs (
  id          bigint generated always as identity primary key,
  release_id  bigint not null references releases,
  name        text not null,
  version     text not null,
  fingerprint text not null,
  digest      text not null,
  blob_id     text not null,
  document    json not null,
  unique (release_id, name, version, fingerprint)
);
create index jobs_blob on jobs (blob_id);

create table packages (
  id           bigint generated always as identity primary key,
  release_id   bigint not null references releases,
  name         text not null,
  version      text not null,
  fingerprint  text not null,
  dependencies jsonb not null,
  digest       text,
  blob_id      text,
  unique (release_id, name, version, fingerprint),
  check ((digest is null) = (blob_id is null))
);
create index packages_fingerprint on packages (fingerprint);
create index packages_blob on packages (blob_id);

create table release_version_jobs (
  release_version_id bigint not null references release_versions on delete cascade,
  job_id             bigint not null references jobs,
  primary key (release_version_id, job_id)
);
create index release_version_jobs_job on release_version_jobs (job_id);

create table release_version_packages (
  release_version_id bigint not null references release_versions on delete cascade,
  package_id         bigint not null references packages,
  primary key (release_version_id, package_id)
);
create index release_version_packages_package on release_version_packages (package_id);

create table compiled_packages (
  id               bigint generated always as identity primary key,
  package_id       bigint not null references packages on delete cascade,
  stemcell_os      text not null,
  stemcell_version text not null,
  dependency_key   text not null,
  build            integer not null,
  digest           text not null,
  blob_id          text not null,
  created_at       timestamptz not null default now(),
  unique (package_id, stemcell_os, stemcell_version, dependency_key),
  -- Agents tell two of them apart by it.
  unique (package_id, stemcell_os, stemcell_version, build)
);
create index compiled_packages_blob on compiled_packages (blob_id);

create table deployment_release_versions (
  deployment_id      bigint not null references deployments on delete cascade,
  release_version_id bigint not null references release_versions,
  primary key (deployment_id, release_version_id)
);
create index deployment_release_versions_version on deployment_release_versions (release_version_id);
`;
