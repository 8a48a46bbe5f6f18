# SPDX-License-Identifier: MIT
#
# For Homebrew on Linux: library, headers and daemon, of a clone of this project. Homebrew wants a formula
# in a tap:
#
#     brew tap-new local/timebase
#     cp packaging/homebrew/timebase.rb "$(brew --repository local/timebase)/Formula"
#     HOMEBREW_TIMEBASE_CLONE=$PWD brew install --HEAD local/timebase/timebase
class Timebase < Formula
  desc "Time from the processor's own counter, with a bound of its error"
  license "MIT"
  head "file://#{ENV.fetch("HOMEBREW_TIMEBASE_CLONE", "")}", using: :git

  depends_on "meson" => :build
  depends_on "ninja" => :build
  depends_on :linux

  def install
    system "meson", "setup", "build", "-Dtests=false", "-Dexamples=false", "-Dcommand=disabled",
           "--sysconfdir=#{etc}", *std_meson_args
    system "meson", "compile", "-C", "build"
    system "meson", "install", "-C", "build"
  end

  # The daemon makes the folder of its page, and not the one above.
  def post_install
    (var/"run").mkpath
  end

  def caveats
    "The command timebase is a Python program: python3 -m pip install '.[report]' in the clone."
  end

  service do
    run [opt_sbin/"timebased", "--page=#{var}/run/timebase/page"]
    keep_alive true
  end

  test do
    (testpath/"now.c").write <<~C
      #include <timebase.h>
      int main(void) { return timebase_utc_ns(timebase_clock_default()) > 0 ? 0 : 1; }
    C
    system ENV.cc, "now.c", "-o", "now", "-I#{include}", "-L#{lib}", "-Wl,-rpath,#{lib}", "-ltimebase"
    system "./now"
    system sbin/"timebased", "--check"
  end
end
