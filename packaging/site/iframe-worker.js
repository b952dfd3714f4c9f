// Search of pages that are opened as files. Browsers start no worker from a file; a frame runs its script.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = frame.contentDocument.createElement("script");
      script.src = url;
      this.started = new Promise((resolve) => { script.onload = resolve; });
      frame.contentDocument.body.append(script);
    }

    async postMessage(data) {
      await this.started;
      this.inside.dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
