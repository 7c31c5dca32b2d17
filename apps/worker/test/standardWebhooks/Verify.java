import com.standardwebhooks.Webhook;
import java.net.http.HttpHeaders;
import java.util.HashMap;
import java.util.List;

class Verify {
  public static void main(String[] args) throws Exception {
    var names = List.of("webhook-id", "webhook-timestamp", "webhook-signature");
    var headers = new HashMap<String, List<String>>();
    for (int i = 0; i < names.size(); i++) headers.put(names.get(i), List.of(args[i + 1]));
    var body = new String(System.in.readAllBytes(), "UTF-8");
    new Webhook(args[0]).verify(body, HttpHeaders.of(headers, (name, value) -> true));
  }
}
