import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

final class Run {
  public static void main(String[] args) throws Exception {
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line; (line = lines.readLine()) != null; ) {
      String[] fields = line.split("\t", -1);
      String header = fields[0].equals("-") ? null : new String(decode(fields[0]), UTF_8);
      List<String> secrets = new ArrayList<>();
      if (!fields[2].equals("-")) {
        for (String secret : fields[2].split(",", -1)) secrets.add(new String(decode(secret), UTF_8));
      }
      boolean accepted = WebhookSignature.verify(header, decode(fields[1]), secrets, Long.parseLong(fields[3]), 300);
      System.out.println(accepted ? "accepted" : "refused");
    }
  }

  private static byte[] decode(String text) {
    return Base64.getDecoder().decode(text);
  }
}
