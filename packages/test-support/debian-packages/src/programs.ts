/** A program of Debian that proofs need. */
export interface Program {
  readonly packages: readonly [string, ...ReadonlyArray<string>]
  /** Where the program is, the first path that exists counts: absolute if the packages are installed, a glob relative to the folder if they are unpacked. */
  readonly paths: readonly [string, ...ReadonlyArray<string>]
  /** Whether a program that the machine already has is used instead. Default false. */
  readonly own?: boolean
  /** Requirements of pip: the program is in a virtual environment, and the packages contain Python. Default none. */
  readonly pip?: ReadonlyArray<string>
}

/** Programs that `.ci/prepare` installs. */
export const INSTALLED = {
  chromium: { packages: ["chromium"], paths: ["/usr/bin/chromium", "/usr/bin/google-chrome"] },
  "docker-registry": { packages: ["docker-registry", "skopeo"], paths: ["/usr/bin/docker-registry"] },
  iproute2: { packages: ["iproute2"], paths: ["/usr/sbin/ip", "/sbin/ip"] },
  postfix: { packages: ["postfix"], paths: ["/usr/sbin/postfix"] },
  redis: { packages: ["redis-server"], paths: ["/usr/bin/redis-server"] },
  "systemd-analyze": { packages: ["systemd"], paths: ["/usr/bin/systemd-analyze"] },
} as const satisfies Record<string, Program>

/**
 * Programs that `.ci/prepare` only unpacks, because the machine may already have another version of them, or because they would replace another mail server.
 * Their libraries are in the same folder.
 */
export const UNPACKED = {
  caddy: { packages: ["caddy"], paths: ["usr/bin/caddy"] },
  etcd: { packages: ["etcd-server"], paths: ["usr/bin/etcd"] },
  haproxy: { packages: ["haproxy"], paths: ["usr/sbin/haproxy"] },
  // Exim finds its user with the second package, without an entry in /etc/passwd.
  exim: { packages: ["exim4-daemon-light", "libnss-wrapper"], paths: ["usr/sbin/exim4"] },
  go: { packages: ["golang-go"], paths: ["usr/lib/go-*/bin/go"], own: true },
  java: { packages: ["default-jdk-headless"], paths: ["usr/lib/jvm/java-*-openjdk-*/bin/javac"], own: true },
  libfaketime: { packages: ["libfaketime"], paths: ["usr/lib/*/faketime/libfaketime.so.1"] },
  mono: { packages: ["mono-mcs"], paths: ["usr/bin/mono"], own: true },
  patroni: {
    packages: ["python3-venv"],
    pip: ["patroni[etcd3]==4.1.5", "psycopg2-binary==2.9.13"],
    paths: ["bin/patroni"],
  },
  pgbouncer: { packages: ["pgbouncer"], paths: ["usr/sbin/pgbouncer"] },
  php: { packages: ["php-cli"], paths: ["usr/bin/php[0-9]*"], own: true },
  postgresql: { packages: ["postgresql-15"], paths: ["usr/lib/postgresql/15/bin/postgres"] },
  prometheus: { packages: ["prometheus"], paths: ["usr/bin/prometheus"] },
  python: { packages: ["python3"], paths: ["usr/bin/python3"], own: true },
  ruby: { packages: ["ruby"], paths: ["usr/bin/ruby[0-9]*"], own: true },
  spamassassin: { packages: ["spamassassin"], paths: ["usr/bin/spamassassin"] },
} as const satisfies Record<string, Program>

export type InstalledName = keyof typeof INSTALLED
export type UnpackedName = keyof typeof UNPACKED
