require_relative "verify_signature"

$stdin.each_line(chomp: true) do |line|
  header, body, secrets, now = line.split("\t", -1)
  accepted = verify_signature(
    header == "-" ? nil : header.unpack1("m").force_encoding("UTF-8"),
    body.unpack1("m"),
    secrets == "-" ? [] : secrets.split(",", -1).push(*("" if secrets.empty?)).map { |secret| secret.unpack1("m") },
    now: now.to_i,
  )
  puts(accepted ? "accepted" : "refused")
end
