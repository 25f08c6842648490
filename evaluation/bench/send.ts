import { request } from 'node:http';

/** Sends a request and reads the whole response. @throws if the response is an error */
export function send(url: URL, options: Parameters<typeof request>[1] & object, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (data) => {
        text += data;
      });
      response.on('end', () => {
        if (Math.trunc(Number(response.statusCode) / 100) === 2) resolve(text);
        else reject(new Error(`${url.pathname} returned ${response.statusCode}: ${text}`));
      });
    })
      .on('error', reject)
      .end(body);
  });
}
