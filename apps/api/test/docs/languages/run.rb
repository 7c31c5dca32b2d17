require_relative "verify_signature"

$stdin.each_line(chomp: true) do |line|
  header, body, secrets, now = line.split("\t", -1)
  header = header == "-" ? nil : header.unpack1("m").force_encoding("UTF-8")
  secrets = secrets == "-" ? [] : secrets.split(",", -1).push(*("" if secrets.empty?)).map { |secret| secret.unpack1("m") }
  given = [secrets, *(secrets if secrets.length == 1)]
  answers = given.map { |held| verify_signature(header, body.unpack1("m"), held, now: now.to_i) }.uniq
  raise "one secret is not a list of one" if answers.length != 1

  puts(answers.first ? "accepted" : "refused")
end
