const pem = (label: string, base64: string) => `-----BEGIN ${label}-----\n${base64}\n-----END ${label}-----\n`

/** The key of both certificates, made for these tests. */
const key = pem(
  "PRIVATE KEY",
  "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgYbMRS/aDURQ8Azrcc9vglOuZmIDdG2rPfnc94TOSBCGhRANCAARt6Yz5OLev47LEzx7IV9/GcRjRzFv9AtuHvZYTQrqeQQFsmd3h4ZoA4WVF2ToMUCePvEnvFywCrItCh60fVhKh",
)

/** A self-signed certificate of 127.0.0.1 that expired in 2020. */
export const expired = {
  key,
  cert: pem(
    "CERTIFICATE",
    "MIIBRzCB76ADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDAeFw0xOTAxMDEwMDAwMDBaFw0yMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABG3pjPk4t6/jssTPHshX38ZxGNHMW/0C24e9lhNCup5BAWyZ3eHhmgDhZUXZOgxQJ4+8Se8XLAKsi0KHrR9WEqGjMjAwMA8GA1UdEQQIMAaHBH8AAAEwHQYDVR0OBBYEFIl0nev0lJT7bz3l1AuJIAji//AEMAoGCCqGSM49BAMCA0cAMEQCIAMW3nQYN2ORYqhePhwuAAnrib/GG+biM6dNZCbNnCaiAiBg+4g1JDIi6ahCD1Ehl18NXr2OIPmM9bxgjT0MaBImzQ==",
  ),
}

/** A self-signed certificate of elsewhere.test, valid until 2119. */
export const elsewhere = {
  key,
  cert: pem(
    "CERTIFICATE",
    "MIIBXjCCAQWgAwIBAgIBAjAKBggqhkjOPQQDAjAZMRcwFQYDVQQDDA5lbHNld2hlcmUudGVzdDAgFw0xOTAxMDEwMDAwMDBaGA8yMTE5MDEwMTAwMDAwMFowGTEXMBUGA1UEAwwOZWxzZXdoZXJlLnRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARt6Yz5OLev47LEzx7IV9/GcRjRzFv9AtuHvZYTQrqeQQFsmd3h4ZoA4WVF2ToMUCePvEnvFywCrItCh60fVhKhozwwOjAZBgNVHREEEjAQgg5lbHNld2hlcmUudGVzdDAdBgNVHQ4EFgQUiXSd6/SUlPtvPeXUC4kgCOL/8AQwCgYIKoZIzj0EAwIDRwAwRAIgHYsxMcGUO3l/5p5KajG8pJy2DwY3KF80pCdZYgslza8CIF9TbcwBkpNCGX6an1M6w5jqewtpaBn43W3+qqqh2/6D",
  ),
}
