/** A program of Debian that proofs need. */
export interface Program {
  readonly packages: readonly [string, ...ReadonlyArray<string>]
  /** Where the program is, as globs without the leading slash. The first one that exists counts. */
  readonly paths: readonly [string, ...ReadonlyArray<string>]
  /**
   * `installed`: on the machine. `unpacked`: in a separate folder with its libraries, because the machine may have another version, or because it would replace
   * another mail server. `either`: unpacked unless the machine has it. Default: unpacked.
   */
  readonly place?: "installed" | "unpacked" | "either"
  /** Requirements of pip: the program is in a virtual environment, and the packages contain Python. Default none. */
  readonly pip?: ReadonlyArray<string>
}

export const PROGRAMS = {
  caddy: { packages: ["caddy"], paths: ["usr/bin/caddy"] },
  chromium: { packages: ["chromium"], paths: ["usr/bin/chromium", "usr/bin/google-chrome"], place: "installed" },
  "docker-registry": {
    packages: ["docker-registry", "skopeo"],
    paths: ["usr/bin/docker-registry"],
    place: "installed",
  },
  etcd: { packages: ["etcd-server"], paths: ["usr/bin/etcd"] },
  // Exim finds its user with the second package, without an entry in /etc/passwd.
  exim: { packages: ["exim4-daemon-light", "libnss-wrapper"], paths: ["usr/sbin/exim4"] },
  go: { packages: ["golang-go"], paths: ["usr/local/go/bin/go", "usr/lib/go-*/bin/go"], place: "either" },
  haproxy: { packages: ["haproxy"], paths: ["usr/sbin/haproxy"] },
  iproute2: { packages: ["iproute2"], paths: ["usr/sbin/ip", "sbin/ip"], place: "installed" },
  java: { packages: ["default-jdk-headless"], paths: ["usr/lib/jvm/java-*-openjdk-*/bin/javac"], place: "either" },
  libfaketime: { packages: ["libfaketime"], paths: ["usr/lib/*/faketime/libfaketime.so.1"] },
  maven: { packages: ["maven", "default-jdk-headless"], paths: ["usr/bin/mvn"], place: "installed" },
  mono: { packages: ["mono-mcs"], paths: ["usr/bin/mono"], place: "either" },
  patroni: {
    packages: ["python3-venv"],
    pip: ["patroni[etcd3]==4.1.5", "psycopg2-binary==2.9.13"],
    paths: ["bin/patroni"],
  },
  pgbouncer: { packages: ["pgbouncer"], paths: ["usr/sbin/pgbouncer"] },
  php: { packages: ["php-cli"], paths: ["usr/bin/php[0-9]*"], place: "either" },
  postfix: { packages: ["postfix"], paths: ["usr/sbin/postfix"], place: "installed" },
  postgresql: { packages: ["postgresql-15"], paths: ["usr/lib/postgresql/15/bin/postgres"] },
  prometheus: { packages: ["prometheus"], paths: ["usr/bin/prometheus"] },
  python: { packages: ["python3"], paths: ["usr/bin/python3"], place: "either" },
  redis: { packages: ["redis-server"], paths: ["usr/bin/redis-server"], place: "installed" },
  ruby: { packages: ["ruby"], paths: ["usr/bin/ruby[0-9]*"], place: "either" },
  spamassassin: { packages: ["spamassassin"], paths: ["usr/bin/spamassassin"] },
  // The library of Standard Webhooks for Python.
  standardwebhooks: { packages: ["python3-venv"], pip: ["standardwebhooks==1.1.0"], paths: ["bin/python3"] },
  "systemd-analyze": { packages: ["systemd"], paths: ["usr/bin/systemd-analyze"], place: "installed" },
} as const satisfies Record<string, Program>

export type ProgramName = keyof typeof PROGRAMS
