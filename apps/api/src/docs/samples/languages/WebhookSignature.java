import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public final class WebhookSignature {
  /** Reports whether one of the secrets signed the raw body, at most tolerance seconds from now. */
  public static boolean verify(
      String header, byte[] rawBody, List<String> secrets, long now, long tolerance)
      throws GeneralSecurityException {
    // 1. Take the header apart: one t, and one v1 or more. Other items belong to later schemes.
    if (header == null || header.length() > 4096) return false;
    String[] items = header.split(", *", -1);
    if (items.length > 32) return false;
    List<String> times = new ArrayList<>();
    List<String> signatures = new ArrayList<>();
    for (String item : items) {
      if (!item.matches("[^= ]+=[^ ]*")) return false;
      String value = item.substring(item.indexOf('=') + 1);
      if (item.startsWith("t=")) times.add(value);
      if (item.startsWith("v1=")) signatures.add(value);
    }
    if (times.size() != 1 || !times.get(0).matches("0|[1-9][0-9]{0,14}")) return false;
    if (!signatures.stream().allMatch(one -> one.matches("[0-9a-f]{64}"))) return false;

    // 2. Refuse what is older than the tolerance, or further ahead.
    if (Math.abs(now - Long.parseLong(times.get(0))) > tolerance) return false;

    // 3. Sign the same bytes with each secret: the time, a dot, the raw body.
    // 4. Compare in constant time; one match is enough.
    Mac mac = Mac.getInstance("HmacSHA256");
    for (String secret : secrets) {
      if (secret.isEmpty()) continue;
      mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
      mac.update((times.get(0) + ".").getBytes(UTF_8));
      byte[] expected = mac.doFinal(rawBody);
      for (String signature : signatures) {
        if (MessageDigest.isEqual(expected, HexFormat.of().parseHex(signature))) return true;
      }
    }
    return false;
  }
}
