// A browser starts no worker for a page that was opened from the disk. Then the site's search would
// not work without a server. There, a hidden frame takes the worker's place.
"use strict"
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.onmessage = this.onerror = this.onmessageerror = null
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.title = "search"
      ;(document.body || document.documentElement).append(this.frame)
      const inner = this.frame.contentWindow
      inner.postMessage = (data) => {
        const copy = structuredClone(data) // as a worker would: neither side sees the other's changes
        setTimeout(() => this.onmessage?.({ data: copy }))
      }
      const script = inner.document.createElement("script")
      script.src = new URL(url, location.href)
      script.onerror = (event) => this.onerror?.(event)
      script.onload = () => {
        this.waiting.forEach((data) => this.send(data))
        this.waiting = null
      }
      inner.document.body.append(script)
    }

    postMessage(data) {
      const copy = structuredClone(data)
      if (this.waiting) this.waiting.push(copy)
      else this.send(copy)
    }

    send(data) {
      setTimeout(() => this.frame.contentWindow?.onmessage?.({ data }))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
