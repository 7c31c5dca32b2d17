require "openssl"

# Reports whether the bytes of a body were signed with one of the secrets, within the tolerance in seconds.
def verify_signature(header, raw_body, secrets, tolerance: 300, now: Time.now.to_i)
  # 1. Take the header apart: one t, and one v1 or more. Items of other names belong to later schemes.
  header = header.to_s.b
  items = header.split(/, */, -1)
  return false unless header.length <= 4096 && items.length <= 32 && items.all?(/\A[^= ]+=[^ ]*\z/)

  t = items.filter_map { |item| item[2..] if item.start_with?("t=") }
  v1 = items.filter_map { |item| item[3..] if item.start_with?("v1=") }
  return false unless t.length == 1 && t[0].match?(/\A(0|[1-9][0-9]{0,14})\z/)
  return false unless v1.any? && v1.all?(/\A[0-9a-f]{64}\z/)

  # 2. Refuse what is older than the tolerance, or further ahead.
  return false if (now - t[0].to_i).abs > tolerance

  # 3. Sign the same bytes with each secret: the time, a dot, the raw body.
  expected = secrets.reject(&:empty?).map do |secret|
    OpenSSL::HMAC.hexdigest("SHA256", secret, "#{t[0]}.".b + raw_body.b)
  end

  # 4. Compare all in constant time; one match is enough.
  v1.product(expected).map { |one, other| OpenSSL.fixed_length_secure_compare(one, other) }.any?
end
