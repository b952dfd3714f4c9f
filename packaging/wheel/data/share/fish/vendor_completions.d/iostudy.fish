# Completion of iostudy for fish; loaded from this folder.
function __iostudy_complete
    set -l words (commandline -opc) (commandline -ct)
    for line in (iostudy-complete $words[2..-1] 2>/dev/null)
        if string match -q ':files*' -- $line
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c iostudy -f -a '(__iostudy_complete)'
