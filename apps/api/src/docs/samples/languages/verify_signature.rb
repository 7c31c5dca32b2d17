require "openssl"

# Reports whether the bytes of a body were signed with one of the secrets, within the tolerance in seconds.
# secrets is one secret, or a list of them.
def verify_signature(header, raw_body, secrets, tolerance: 300, now: Time.now.to_i)
  # 1. Take the header apart: one t, and one v1 or more. Items of other names belong to later schemes.
  header = header.to_s.b
  items = header.split(/, */, -1)
  return false if header.length > 4096 || items.length > 32
  return false unless items.all?(/\A[^= ]+=[^ ]*\z/)

  times = items.filter_map { |item| item.delete_prefix("t=") if item.start_with?("t=") }
  signatures = items.filter_map { |item| item.delete_prefix("v1=") if item.start_with?("v1=") }
  return false unless times.length == 1 && times.first.match?(/\A(0|[1-9][0-9]{0,14})\z/)
  return false unless signatures.all?(/\A[0-9a-f]{64}\z/)

  # 2. Refuse what is older than the tolerance, or further ahead.
  return false if (now - times.first.to_i).abs > tolerance

  # 3. Sign the same bytes with each secret: the time, a dot, the raw body.
  signed = "#{times.first}.".b + raw_body.b
  held = Array(secrets).reject(&:empty?)
  expected = held.map { |secret| OpenSSL::HMAC.hexdigest("SHA256", secret, signed) }

  # 4. Compare in constant time; one match is enough.
  signatures.product(expected).any? { |one, other| OpenSSL.fixed_length_secure_compare(one, other) }
end
